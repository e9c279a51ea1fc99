"""Writes down how a run ended, exactly once, whatever happened to the answers in between."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from headwater.control.entry import Entry
from headwater.control.finishing import finish_of
from headwater.control.results import RunEnd, RunResult
from headwater.runner.metrics import Metrics
from headwater.runner.run import Run
from headwater.store.job_record import JobRecord
from headwater.store.jobs import Finish
from headwater.store.ledger import Ledger
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.lifecycle.job import JobState
from headwater.vocabulary.settings import ControlSettings

_ROUNDS = 4
"""How often a row that somebody else changes meanwhile is read again."""

log = structlog.get_logger(__name__)


class Closing:
    """Reads the job's row, decides what the end means, writes it, and tells when it is due next."""

    def __init__(
        self, ledger: Ledger, clock: Clock, settings: ControlSettings, metrics: Metrics | None
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._settings = settings
        self._metrics = metrics

    def close(self, run: Run, entry: Entry, result: RunResult) -> datetime | None:
        """When the job is due again; its entry leaves if the job is no longer this runner's."""
        for _ in range(_ROUNDS):
            record = self._ledger.jobs.get(run.job.id)
            if record is None or record.owner != run.runner or record.dropped_at is not None:
                entry.is_leaving = True
                return None
            entry.again = entry.again or record.spec != entry.job.spec
            entry.job = record
            if record.state is not JobState.RUNNING:
                return self._not_running(entry, result)
            end = self._finish(run, entry, result)
            if self._ledger.jobs.finish(record.id, run.runner, record.sequence, end):
                self._count(result, end)
                entry.job = _finished(record, end)
                entry.scan = entry.scan and not end.scanned
                return end.next_at
        log.warning("end_not_written", job=run.job.name)
        return self._soon()

    def _finish(self, run: Run, entry: Entry, result: RunResult) -> Finish:
        if result.end is RunEnd.SKIPPED:
            # It was begun, but the answer got lost: it is ready again.
            result = RunResult(RunEnd.BUSY)
        was_scan, entry.scan = entry.scan, entry.scan and run.scan
        end = finish_of(entry, result, self._clock.now(), self._settings)
        entry.scan = was_scan
        is_moved = entry.job.next_at is not None and entry.job.next_at != run.job.next_at
        return replace(end, next_at=entry.job.next_at) if is_moved and _keeps(end) else end

    def _not_running(self, entry: Entry, result: RunResult) -> datetime | None:
        """It never began, or its end was written and the answer got lost."""
        at = entry.job.next_at
        if result.end is not RunEnd.SKIPPED:
            return at
        if at is not None and at > self._clock.now():
            return at
        is_due = at is not None or entry.spec.follows_commits
        return self._soon() if is_due else None

    def _soon(self) -> datetime:
        return self._clock.now() + timedelta(seconds=self._settings.busy_seconds)

    def _count(self, result: RunResult, end: Finish) -> None:
        if self._metrics is None:
            return
        if result.end is RunEnd.FAILED:
            code = str((result.error or {}).get("code", ""))
            self._metrics.failed(code, retried=end.next_at is not None)
        if end.missed:
            self._metrics.missed(end.missed)


def _keeps(end: Finish) -> bool:
    """A time that somebody set during the run stands, unless the job must wait or stop."""
    return end.state is JobState.COMPLETED and end.retry is None


def _finished(record: JobRecord, end: Finish) -> JobRecord:
    """The row as it is after the write."""
    return replace(
        record,
        state=end.state,
        next_at=end.next_at,
        retry=end.retry,
        error=end.error,
        last_success=end.succeeded_at or record.last_success,
        misses=record.misses + end.missed,
        scan=record.scan and not end.scanned,
        sequence=record.sequence + 1,
    )
