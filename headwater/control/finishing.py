"""What the end of a run means for a job: its state, its next time, its waits. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from headwater.control.entry import Entry
from headwater.control.results import RunEnd, RunResult
from headwater.control.retries import after_failure
from headwater.control.settings import retry_policy
from headwater.control.triggers import NextRun, next_run
from headwater.store.jobs import Finish
from headwater.vocabulary.lifecycle.job import JobState
from headwater.vocabulary.settings import ControlSettings


def finish_of(entry: Entry, result: RunResult, now: datetime, settings: ControlSettings) -> Finish:
    """How the job's row is to be closed; `entry.job` is the row as it is while the run lasts."""
    if result.end is RunEnd.SUCCEEDED:
        return _succeeded(entry, now)
    if result.end is RunEnd.BUSY:
        return _soon(entry, now + timedelta(seconds=settings.busy_seconds))
    if result.end is RunEnd.CANCELED:
        return _canceled(entry, result, now, settings)
    return _failed(entry, result, now, settings)


def _succeeded(entry: Entry, now: datetime) -> Finish:
    """A commit that came meanwhile counts for now; a time that somebody set meanwhile stands."""
    following = _following(entry, now, success=now)
    at = now if entry.again else following.at
    return Finish(
        JobState.COMPLETED,
        at,
        succeeded_at=now,
        missed=following.missed,
        scanned=entry.scan,
    )


def _soon(entry: Entry, at: datetime) -> Finish:
    return Finish(JobState.COMPLETED, at, entry.job.retry, entry.job.error)


def _canceled(entry: Entry, result: RunResult, now: datetime, settings: ControlSettings) -> Finish:
    earliest = now + timedelta(seconds=settings.after_cancel_seconds)
    following = _following(entry, now, success=entry.job.last_success).at
    at = earliest if following is None else max(earliest, following)
    return Finish(JobState.CANCELED, at, error=result.error)


def _failed(entry: Entry, result: RunResult, now: datetime, settings: ControlSettings) -> Finish:
    retry = after_failure(entry.retry, result.number, now, retry_policy(settings))
    state = JobState.ERROR if retry.is_stopped else JobState.COMPLETED
    return Finish(state, retry.retry_at, retry.to_json(), result.error)


def _following(entry: Entry, now: datetime, *, success: datetime | None) -> NextRun:
    return next_run(
        entry.spec.trigger, last_success=success, last_start=entry.job.last_start, now=now
    )
