"""Hours of a fleet in a second: the real runners, coordinators and ledger under injected faults.

Everything comes from one seed: when sources are committed to, which statements are lost on their
way to the ledger or back, who is stopped, killed, cut off or started, whose clock is wrong by how
much. What must never happen is checked at every step; that nothing was lost is checked when the
faults are over and everything had time to come right again.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import count

from headwater.define.trigger import Every, OnChange
from headwater.define.view import ViewDef
from headwater.store.ledger import Ledger
from headwater.testing.clock import FrozenClock
from headwater.testing.fleet import define, source_def, view_def
from headwater.testing.invariants import Invariants
from headwater.testing.memory import memory_database
from headwater.testing.misfortune import Misfortune
from headwater.testing.simulated_node import SimulatedNode
from headwater.testing.world import World
from headwater.vocabulary.lifecycle.job import JobState
from headwater.vocabulary.settings import ControlSettings

SETTINGS = ControlSettings(
    lease_seconds=20,
    renew_seconds=6,
    settle_seconds=5,
    tick_seconds=4,
    report_seconds=10,
    poll_seconds=8,
    reconcile_seconds=40,
    reap_seconds=120,
)
"""Fewer looks than by default, so that more happens in a second of the simulation."""


@dataclass(frozen=True)
class Shape:
    """How large and how rough a simulated fleet is; `calm_minutes` is what recovery may take."""

    runners: int = 3
    sources: int = 4
    views: int = 9
    rough_minutes: float = 5
    calm_minutes: float = 7
    commits_per_minute: float = 6
    faults_per_minute: float = 3
    lost: float = 0.01
    answer_lost: float = 0.01
    skew_seconds: float = 20
    fenced: bool = True
    settings: ControlSettings = SETTINGS


@dataclass(frozen=True)
class Report:
    """What a run came to; equal seeds give equal reports."""

    seed: int
    steps: int
    runs: int
    commits: int
    terms: int
    faults: tuple[tuple[str, int], ...]
    trace: str


class Simulation:
    """One seed."""

    def __init__(self, seed: int, shape: Shape | None = None) -> None:
        self.seed = seed
        self.shape = shape or Shape()
        self.clock = FrozenClock()
        self.random = random.Random(seed)  # noqa: S311  (not for secrets)
        self.database = memory_database()
        self.ledger = Ledger(self.database, self.clock)
        self.world = World(self.random, self.clock, fenced=self.shape.fenced)
        self.nodes: list[SimulatedNode] = []
        self.invariants = Invariants(self)
        self.is_calm = False
        self.runs = 0
        self.faults: Counter[str] = Counter()
        self.most_jobs = self.shape.views + 50
        self._misfortune = Misfortune(self)
        self._ids, self._order = count(1), count()
        self._events: list[tuple[datetime, int, Callable[[], None]]] = []
        self._trace = blake2b(digest_size=8)
        self._steps = 0

    # --- the story --------------------------------------------------------------------------

    def run(self) -> Report:
        """Faults for some minutes, then calm, then the reckoning."""
        self._begin()
        self._let_pass(self.shape.rough_minutes * 60)
        self._calm_down()
        self._let_pass(self.shape.calm_minutes * 60)
        self.invariants.reckon()
        self.database.close()
        return Report(
            self.seed,
            self._steps,
            self.runs,
            len(self.world.commits),
            self.invariants.terms,
            tuple(sorted(self.faults.items())),
            self._trace.hexdigest(),
        )

    def _begin(self) -> None:
        shape = self.shape
        sources = [source_def(f"s{n}") for n in range(shape.sources)]
        for source in sources:
            self.world.add_source(source.name)
        define(self.ledger, [*sources, *(self.view(n) for n in range(shape.views))])
        for number in range(shape.runners):
            self.start_node(f"host{number}")
        self._write_source()
        self._misfortune.begin()

    def _calm_down(self) -> None:
        """No more faults: the line is good, everybody is let go on, what was refused is resumed."""
        self.is_calm = True
        self.world.failing = 0
        if not self.living:
            self.start_node("host0")
        for node in self.living:
            node.is_cut_off = False
            node.let_go_on()
        for seconds in (0, 60, 120):  # some fail only now, at the end of what began before
            self.later(seconds, self._resume_stopped)

    def _resume_stopped(self) -> None:
        for job in self.ledger.jobs.list():
            if job.state is JobState.ERROR:
                self.ledger.jobs.resume(job.id, self.clock.now())

    # --- what there is ----------------------------------------------------------------------

    @property
    def living(self) -> list[SimulatedNode]:
        """Processes that run or are stopped for a while."""
        return [node for node in self.nodes if node.node.is_up]

    def view(self, number: int, *, turned: bool = False) -> ViewDef:
        """Two of three follow commits, the others the clock; turned, the other way round."""
        by_clock = (number % 3 == 0) is not turned
        trigger = Every(timedelta(seconds=60 + number % 5 * 30)) if by_clock else OnChange()
        return view_def(f"v{number}", f"s{number % self.shape.sources}", trigger=trigger)

    def start_node(self, address: str) -> SimulatedNode:
        """A new process."""
        node = SimulatedNode(self, address, next(self._order))
        self.nodes = [*self.living, node]
        self.expect(node)
        return node

    def new_id(self) -> str:
        return f"r{next(self._ids):04d}"

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        """Something that happens at a moment, whoever has its turn then."""
        at = self.clock.now() + timedelta(seconds=seconds)
        heapq.heappush(self._events, (at, next(self._order), act))

    def note(self, what: str) -> None:
        """Part of what must be the same when the seed is run again."""
        self._trace.update(f"{self.clock.now().timestamp():.3f} {what}\n".encode())

    def _write_source(self) -> None:
        if not self.is_calm:
            source = self.random.choice(sorted(self.world.sources))
            self.world.write(source)
            self.note(f"write {source}")
            rate = self.shape.commits_per_minute / 60
            self.later(self.random.expovariate(rate), self._write_source)

    # --- time -------------------------------------------------------------------------------

    def _let_pass(self, seconds: float) -> None:
        """Whoever wakes next has its turn; the clock jumps from one to the next."""
        end = self.clock.now() + timedelta(seconds=seconds)
        while self._events and self._events[0][0] <= end:
            at, _, act = heapq.heappop(self._events)
            self.clock.advance(max(0.0, (at - self.clock.now()).total_seconds()))
            act()
            self._steps += 1
            self.invariants.check(self._steps)
        self.clock.advance(max(0.0, (end - self.clock.now()).total_seconds()))

    def expect(self, node: SimulatedNode) -> None:
        """A process that runs has its turn when it wakes."""
        heapq.heappush(self._events, (node.wakes_at, next(self._order), lambda: self._turn(node)))

    def _turn(self, node: SimulatedNode) -> None:
        if node.is_running:
            if node.wakes_at <= self.clock.now():
                node.turn()
            self.expect(node)


def simulate(seed: int, shape: Shape | None = None) -> Report:
    """Run one seed; raises `InvariantBroken` with the seed and the moment."""
    return Simulation(seed, shape).run()
