"""What must hold in a simulated fleet, at every step and at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.runner.run import Run
from headwater.vocabulary.lifecycle.job import JobKind, JobState

if TYPE_CHECKING:
    from headwater.testing.simulated_node import SimulatedNode
    from headwater.testing.simulation import Simulation


_NOW_AND_THEN = 50


class InvariantBroken(AssertionError):
    """Something happened that never may; the seed shows it again."""


class Invariants:
    """One leader per term, one owner per job, no double commit, bounded queues, nothing lost."""

    def __init__(self, simulation: Simulation) -> None:
        self._all = simulation
        self._holders: dict[int, str] = {}
        self._checked_commits = 0
        self._committed: set[tuple[str, int]] = set()
        self._newest: dict[str, int] = {}

    @property
    def terms(self) -> int:
        return len(self._holders)

    def check(self, step: int) -> None:
        """After every step; sizes, which change slowly, now and then."""
        self._no_double_commit()
        if step % _NOW_AND_THEN == 0:
            self._bounded()

    def began(self, node: SimulatedNode, run: Run) -> None:
        """A run was let in by the ledger: nobody else who is registered may be at it."""
        for other in self._all.nodes:
            if other is node or not other.is_running:
                continue
            for theirs in other.node.workers.running:
                if theirs.job.id == run.job.id and not theirs.cancellation.is_set:
                    registered = self._all.ledger.runners.get(theirs.runner)
                    self._must(
                        registered is None, f"{run.job.name} has two owners: {theirs.runner}"
                    )

    def reckon(self) -> None:
        """When everything had time to come right: nothing lost, nothing stuck, all owned."""
        ledger, world = self._all.ledger, self._all.world
        alive = {node.node.runner.registration.known_id for node in self._all.living} - {""}
        self._must({r.id for r in ledger.runners.list()} == alive, "runners that are not there")
        self._must(not ledger.commands.pending(), "commands that nobody carries out")
        running = {run.job.id for node in self._all.living for run in node.node.workers.running}
        for job in ledger.jobs.list():
            if job.dropped_at is not None or job.kind is not JobKind.REFRESH:
                continue
            self._must(job.owner in alive, f"{job.name} has no living owner: {job.owner}")
            is_fine = job.state is JobState.COMPLETED or job.id in running
            self._must(is_fine, f"{job.name} is stuck as {job.state}")
            table = world.tables.get(job.subject)
            source = world.sources[job.placed_by]
            made = None if table is None else table.version
            self._must(made == source, f"{job.name} is at {made}, its source at {source}")
        leading = [n for n in self._all.living if n.node.leader.term is not None]
        self._must(len(leading) == 1, f"{len(leading)} leaders at the end")

    def one_leader(self) -> None:
        """After every turn in which somebody may have begun to lead."""
        leading = 0
        for node in self._all.nodes:
            term = node.node.leader.term if node.is_running else None
            if term is not None:
                leading += 1
                holder = self._holders.setdefault(term.number, term.holder)
                self._must(holder == term.holder, f"term {term.number} has two holders")
        self._must(leading <= 1, "two leaders at once")

    def _no_double_commit(self) -> None:
        commits = self._all.world.commits
        for view, sequence, version in commits[self._checked_commits :]:
            self._must((view, sequence) not in self._committed, f"{view} twice at {sequence}")
            self._must(version > self._newest.get(view, 0), f"{view} went back to {version}")
            self._committed.add((view, sequence))
            self._newest[view] = version
        self._checked_commits = len(commits)

    def _bounded(self) -> None:
        most = self._all.most_jobs
        for node in self._all.nodes:
            runner, workers = node.node.runner, node.node.workers
            self._must(runner.in_hand <= most, f"{runner.in_hand} runs in hand")
            self._must(workers.queued <= most, f"{workers.queued} runs queued")
            places = len(runner.scheduler._heap)  # noqa: SLF001
            self._must(places <= 1_000 + 2 * most, f"{places} places in the heap")

    def _must(self, holds: bool, what: str) -> None:  # noqa: FBT001  (a condition is what it takes)
        if not holds:
            at = (self._all.clock.now() - self._all.world.start).total_seconds()
            raise InvariantBroken(f"seed {self._all.seed} at {at:.1f} s: {what}")
