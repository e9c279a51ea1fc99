"""What a simulated fleet works on: sources with versions, views with fenced tables."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from headwater.control.results import SUCCEEDED, RunResult, result_of
from headwater.control.spec import read_spec
from headwater.runner.run import Run
from headwater.testing.clock import FrozenClock
from headwater.vocabulary.errors import CommitFailed, RefreshFenced, StrictRefused

_SLOW, _PERMANENT = 0.1, 0.1


@dataclass
class Table:
    """A view's own table: its refresh sequence, and the version of its source it was made from."""

    sequence: int = 0
    version: int = 0


@dataclass
class World:
    """The truth outside the ledger; commits are fenced by the sequence, as Delta's are."""

    random: random.Random
    clock: FrozenClock
    fenced: bool = True
    sources: dict[str, int] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    commits: list[tuple[str, int, int]] = field(default_factory=list)
    failing: float = 0.08

    def __post_init__(self) -> None:
        self.start = self.clock.now()

    def add_source(self, name: str) -> None:
        self.sources[name] = 1

    def write(self, source: str) -> None:
        """Somebody commits to a source."""
        self.sources[source] += 1

    def refresh(self, run: Run) -> tuple[float, RunResult | Ending]:
        """Begin a refresh: what is read now is what its commit will name."""
        sources = read_spec(run.job.spec).sources
        if not sources:
            return 0.1, SUCCEEDED
        table = self.tables.setdefault(run.job.subject, Table())
        seconds = self.random.expovariate(1 / 6) if self.random.random() > _SLOW else 45.0
        seen = Ending(self, run.job.subject, table.sequence, self.sources[sources[0]])
        if self.random.random() < self.failing:
            error = StrictRefused("no") if self.random.random() < _PERMANENT else CommitFailed("no")
            return seconds, result_of(error)
        return seconds, seen


@dataclass(frozen=True)
class Ending:
    """A refresh that has computed everything and now commits, perhaps much later than it thinks."""

    world: World
    view: str
    sequence: int
    version: int

    def __call__(self) -> RunResult:
        table = self.world.tables[self.view]
        if self.version == table.version:
            return SUCCEEDED  # nothing to write
        if self.world.fenced and table.sequence != self.sequence:
            return result_of(RefreshFenced(f"{self.view} was faster"))
        table.sequence, table.version = self.sequence + 1, self.version
        self.world.commits.append((self.view, table.sequence, self.version))
        return SUCCEEDED
