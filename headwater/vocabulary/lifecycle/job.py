"""A standing duty: keep a view, purge a source's history, or one of Headwater's own."""

from __future__ import annotations

from enum import StrEnum

from headwater.vocabulary.lifecycle.machine import Machine


class JobKind(StrEnum):
    """What a job does when it runs."""

    REFRESH = "refresh"  # moves a view's frontier
    PURGE = "purge"  # removes history that nothing needs any more
    SYS = "sys"  # Headwater's own: sys$coordinator, sys$dictionary


class JobState(StrEnum):
    """Where a job is between two runs; PENDING is known to its runner only."""

    COMPLETED = "completed"  # ready for its next run; also how a new job begins
    PENDING = "pending"  # due, waiting in its runner for a free worker
    RUNNING = "running"  # a worker runs it
    ERROR = "error"  # stopped by a permanent error until it is repaired
    CANCELED = "canceled"  # its last run was canceled; it goes on after a while

    @property
    def is_terminal(self) -> bool:
        return JOB.is_terminal(self)


JOB = Machine(
    "job",
    JobState.COMPLETED,
    {
        (JobState.COMPLETED, JobState.PENDING): "a: due",
        (JobState.CANCELED, JobState.PENDING): "b: due again, at least 2 min later",
        (JobState.PENDING, JobState.RUNNING): "c: a worker is free",
        (JobState.PENDING, JobState.COMPLETED): "d: removed, moved or paused before its start",
        (JobState.RUNNING, JobState.COMPLETED): "e: done, failed for now, or its runner is gone",
        (JobState.RUNNING, JobState.ERROR): "f: failed permanently",
        (JobState.RUNNING, JobState.CANCELED): "g: canceled on request",
        (JobState.ERROR, JobState.COMPLETED): "h: resumed, or defined anew",
        (JobState.CANCELED, JobState.COMPLETED): "i: resumed, or its runner is gone",
    },
)
