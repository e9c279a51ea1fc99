"""One process of a simulated fleet: real loops, a bad line to the ledger, a clock that is off."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from headwater.control.results import RunResult
from headwater.runner.run import Run
from headwater.store.ledger import Ledger
from headwater.testing.faults import Fault, FaultyDatabase, SkewedClock
from headwater.testing.fleet import Node
from headwater.testing.workers import Ended

if TYPE_CHECKING:
    from headwater.testing.simulation import Simulation

_LEAST_STEP = timedelta(milliseconds=50)
_TOLD_TWICE = 0.1


class SimulatedNode:
    """Wakes when its loops want to, unless it is stopped; sees commits when it looks."""

    def __init__(self, simulation: Simulation, address: str, order: int) -> None:
        self.order = order
        self.is_cut_off = False
        self._all = simulation
        self._stopped_until: datetime | None = None
        shape = simulation.shape
        skew = simulation.random.uniform(-shape.skew_seconds, shape.skew_seconds)
        self._clock = SkewedClock(simulation.clock, skew)
        database = FaultyDatabase(simulation.database, self._fault)
        self.node = Node(
            Ledger(database, self._clock),
            self._clock,
            shape.settings,
            address,
            plan=self._begun,
            slots=3,
            new_id=simulation.new_id,
        )
        self._seen: dict[str, int] = {}
        self._turned_at = simulation.clock.now() - _LEAST_STEP

    @property
    def is_running(self) -> bool:
        return self.node.is_up and self._stopped_until is None

    @property
    def wakes_at(self) -> datetime:
        """By the true clock; never so often that time stands still."""
        wants = self.node.next_at - timedelta(seconds=self._clock.seconds)
        return max(wants, self._turned_at + _LEAST_STEP)

    def turn(self) -> None:
        """Look at the sources, then let both loops do what is due."""
        self._turned_at = self._all.clock.now()
        self._watch()
        self.node.step()
        if self.node.leader.term is not None:
            self._all.invariants.one_leader()

    def stop_for(self, seconds: float) -> None:
        """As by SIGSTOP, and SIGCONT later: its runs stand still too."""
        self._stopped_until = self._all.clock.now() + timedelta(seconds=seconds)
        self._all.later(seconds, self.let_go_on)

    def let_go_on(self) -> None:
        """SIGCONT; harmless for one that runs."""
        was_stopped, self._stopped_until = self._stopped_until is not None, None
        if was_stopped:
            self._all.expect(self)

    def _watch(self) -> None:
        """What a source watch does: every source is told at first, then when it has moved."""
        followed = self.node.runner.followed
        self._seen = {source: at for source, at in self._seen.items() if source in followed}
        versions = self._all.world.sources
        moved = [s for s in sorted(followed) if self._seen.get(s) != versions[s]]
        if moved:
            self._seen.update({source: versions[source] for source in moved})
            self.node.runner.noticed(moved)
            if self._all.random.random() < _TOLD_TWICE:
                self.node.runner.noticed(moved)  # told twice

    def _begun(self, run: Run) -> tuple[float, RunResult | Ended]:
        self._all.invariants.began(self, run)
        self._all.runs += 1
        self._all.note(f"run {run.job.name} on {run.runner}")
        return self._all.world.refresh(run)

    def _fault(self) -> Fault:
        shape = self._all.shape
        if self._all.is_calm:
            return Fault.NONE
        if self.is_cut_off:
            return Fault.LOST
        chance = self._all.random.random()
        if chance < shape.lost:
            return Fault.LOST
        return Fault.ANSWER_LOST if chance < shape.lost + shape.answer_lost else Fault.NONE
