"""One job in the memory of its runner."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto

from headwater.control.retries import FRESH, RetryState
from headwater.control.spec import Spec, read_spec
from headwater.store.job_record import JobRecord
from headwater.vocabulary.lifecycle.job import JobState


class Phase(Enum):
    """Where a job is in its runner."""

    WAITING = auto()  # for its time, or for a commit
    IN_HAND = auto()  # queued or running


@dataclass
class Entry:
    """What the scheduler knows of a job; `again` is a commit that came while it was in hand.

    `due` is when it runs next, None where only a commit or a command makes it run. `followed` are
    the sources whose commits it is told of, which a definition newer than that may not be.
    """

    job: JobRecord
    due: datetime | None = None
    phase: Phase = Phase.WAITING
    again: bool = False
    scan: bool = False
    is_leaving: bool = False
    followed: frozenset[str] = frozenset()
    ticket: int = field(default=0, compare=False)

    @property
    def spec(self) -> Spec:
        return read_spec(self.job.spec)

    @property
    def retry(self) -> RetryState:
        return FRESH if self.job.retry is None else RetryState.from_json(self.job.retry)

    @property
    def may_start(self) -> bool:
        job = self.job
        return (
            not self.is_leaving
            and job.is_wanted
            and not job.paused
            and job.state is not JobState.ERROR
        )

    def lag_seconds(self, now: datetime) -> float:
        """How long the content has been out of date, at most.

        What follows commits is up to date until one is seen. What runs by the clock may be out of
        date ever since its last success, and so is what failed.
        """
        since = self.job.last_success or self.job.registered_at
        if self.spec.follows_commits and not self.holds_back:
            since = now if self.due is None else self.due
        return max(0.0, (now - since).total_seconds())

    def is_stopped_by(self, code: str) -> bool:
        """Whether a permanent error of this code is all that keeps it from running."""
        job = self.job
        stopped = job.state is JobState.ERROR and job.is_wanted and not job.paused
        return stopped and (job.error or {}).get("code") == code

    def next_at(self, now: datetime) -> datetime | None:
        """The next time that the ledger has.

        A new definition may have taken it away from a job that waits after a failure or a cancel,
        and no commit makes such a job run: the wait itself still ends.
        """
        if self.job.next_at is not None or not self.holds_back:
            return self.job.next_at
        return self.retry.retry_at or (now if self.spec.follows_commits else None)

    @property
    def holds_back(self) -> bool:
        """Whether a wait after a failure or a cancel is on, which a commit does not shorten."""
        return self.job.retry is not None or self.job.state is JobState.CANCELED
