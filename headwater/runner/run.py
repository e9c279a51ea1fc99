"""One run of a job: what a worker is handed, and who does the actual work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from headwater.control.results import RunResult
from headwater.runner.cancellation import Cancellation
from headwater.store.job_record import JobRecord


@dataclass
class Run:
    """A job from its submission to its end; `scan` asks for everything, not only for changes.

    `begin` is called by the worker right before the work and decides, in the ledger, whether it may
    start: the job must still be this runner's, wanted, and as it was when it became due.
    """

    job: JobRecord
    runner: str
    begin: Callable[[], bool]
    scan: bool = False
    cancellation: Cancellation = field(default_factory=Cancellation)

    @property
    def name(self) -> str:
        """Unique among the runs in hand."""
        return f"{self.job.name}#{self.job.id}"


Done = Callable[[Run, RunResult], None]


class JobWork(Protocol):
    """The work itself: Spark in production, a few lines in tests and in the simulation."""

    def run(self, run: Run) -> RunResult:
        """Do what the job is for; stop soon and commit nothing once cancellation is set."""
        ...


class Workers(Protocol):
    """Where a runner leaves its runs; nothing here blocks but `close`."""

    def submit(self, run: Run, done: Done) -> None:
        """Queue a run; raises QueueFull or RunnerClosing. `done` is called exactly once."""
        ...

    def withdraw(self, run: Run) -> bool:
        """Take back a run that has not started; then `done` is not called."""
        ...

    @property
    def slots(self) -> int:
        """How many can run at once."""
        ...

    def close(self, seconds: float) -> bool:
        """Drop what is queued, wait for what runs; tells whether all ended in time."""
        ...
