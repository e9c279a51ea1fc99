"""What goes wrong in a simulated fleet, and when."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from headwater.testing.fleet import define
from headwater.vocabulary.errors import LedgerUnreachable
from headwater.vocabulary.lifecycle.runner import RunnerState

if TYPE_CHECKING:
    from headwater.testing.simulated_node import SimulatedNode
    from headwater.testing.simulation import Simulation

_KIND = "MATERIALIZED VIEW"


class Misfortune:
    """Chooses a fault now and then; each is one method, named like what it does."""

    def __init__(self, simulation: Simulation) -> None:
        self._all = simulation
        self._hosts = count(simulation.shape.runners)
        self._views = count(simulation.shape.views)
        self._faults = (
            self.stop_a_while,
            self.stop_a_while,
            self.kill,
            self.restart,
            self.close,
            self.start_another,
            self.start_at_same_address,
            self.cut_off,
            self.ledger_away,
            self.delete_row,
            self.drain,
            self.define_view,
            self.drop_view,
            self.redefine_view,
        )

    def begin(self) -> None:
        """Wait for the first fault."""
        rate = self._all.shape.faults_per_minute / 60
        if rate:
            self._all.later(self._all.random.expovariate(rate), self._strike)

    def _strike(self) -> None:
        if self._all.is_calm:
            return
        fault = self._all.random.choice(self._faults)
        self._all.faults[fault.__name__] += 1
        self._all.note(fault.__name__)
        fault()
        self.begin()

    def _victim(self) -> SimulatedNode:
        if not self._all.living:
            return self._all.start_node("host0")
        return self._all.random.choice(self._all.living)

    # --- processes --------------------------------------------------------------------------

    def stop_a_while(self) -> None:
        """SIGSTOP, often for longer than the lease and the limit of silence."""
        self._victim().stop_for(self._all.random.uniform(1, 120))

    def kill(self) -> None:
        self._victim().node.crash()

    def restart(self) -> None:
        """SIGKILL, and the same process again after a while."""
        victim = self._victim()
        victim.node.crash()
        address = victim.node.address
        wait = self._all.random.uniform(0, 60)
        self._all.later(wait, lambda: self._start_again(address))

    def _start_again(self, address: str) -> None:
        self._all.start_node(address)

    def close(self) -> None:
        """SIGTERM; what it was running ends, because it waits for that."""
        victim = self._victim()
        try:
            victim.node.leave()
        except LedgerUnreachable:
            victim.node.crash()

    def start_another(self) -> None:
        if len(self._all.living) < 2 * self._all.shape.runners:
            self._all.start_node(f"host{next(self._hosts)}")

    def start_at_same_address(self) -> None:
        """Somebody starts a second process where one runs already."""
        if len(self._all.living) < 2 * self._all.shape.runners:
            self._all.start_node(self._victim().node.address)

    # --- the ledger -------------------------------------------------------------------------

    def cut_off(self) -> None:
        """One process cannot reach the ledger for a while."""
        victim = self._victim()
        victim.is_cut_off = True
        self._all.later(self._all.random.uniform(5, 100), lambda: _reach(victim))

    def ledger_away(self) -> None:
        """Nobody can reach the ledger for a while."""
        victims = self._all.living
        for victim in victims:
            victim.is_cut_off = True
        seconds = self._all.random.uniform(5, 100)
        self._all.later(seconds, lambda: _reach(*victims))

    def delete_row(self) -> None:
        """Somebody deletes a runner's row."""
        runners = self._all.ledger.runners.list()
        if runners:
            self._all.ledger.runners.leave(self._all.random.choice(runners).id)

    def drain(self) -> None:
        """A runner is drained, and later takes part again."""
        ledger, active, draining = self._all.ledger, RunnerState.ACTIVE, RunnerState.DRAINING
        runners = ledger.runners.list()
        if runners:
            chosen = self._all.random.choice(runners).id
            ledger.runners.set_state(chosen, draining, expected=active)

            def undo() -> None:
                ledger.runners.set_state(chosen, active, expected=draining)

            self._all.later(self._all.random.uniform(5, 60), undo)

    # --- definitions ------------------------------------------------------------------------

    def define_view(self) -> None:
        number = next(self._views)
        if number < self._all.most_jobs:
            define(self._all.ledger, [self._all.view(number)])

    def drop_view(self) -> None:
        views = self._all.ledger.definitions.list(_KIND)
        if len(views) > 1:
            self._all.ledger.definitions.remove(_KIND, self._all.random.choice(views).name)

    def redefine_view(self) -> None:
        """A view gets another kind of trigger, or its own; one that was dropped comes back."""
        number = self._all.random.randrange(self._all.shape.views)
        turned = self._all.random.choice((True, False))
        define(self._all.ledger, [self._all.view(number, turned=turned)])


def _reach(*nodes: SimulatedNode) -> None:
    for node in nodes:
        node.is_cut_off = False
