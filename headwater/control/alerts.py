"""Views that are late and logs that are too long: one event per change of level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

import structlog

from headwater.control.spec import read_spec
from headwater.store.events import Event
from headwater.store.job_record import JobRecord
from headwater.store.ledger import Ledger
from headwater.vocabulary.lifecycle.job import JobKind
from headwater.vocabulary.receipt import AttemptState

log = structlog.get_logger(__name__)

Tell = Callable[[Event], None]


class Level(StrEnum):
    """How bad it is."""

    FINE = "fine"
    WARN = "warn"
    OVERDUE = "overdue"


class AlertKind(StrEnum):
    """What an alert is about."""

    FRESHNESS = "freshness"
    SIZE = "size"


def freshness(job: JobRecord, last_success: datetime | None, now: datetime) -> Level:
    """How late a view is by its WARN AFTER and OVERDUE AFTER; a new one counts from its making."""
    spec = read_spec(job.spec)
    age = now - (last_success or job.registered_at)
    if spec.overdue_after is not None and age >= spec.overdue_after:
        return Level.OVERDUE
    if spec.warn_after is not None and age >= spec.warn_after:
        return Level.WARN
    return Level.FINE


def growth(size_bytes: int, limit_bytes: int) -> Level:
    """A change history is too long strictly above its limit; a limit of 0 is none."""
    return Level.WARN if 0 < limit_bytes < size_bytes else Level.FINE


class Alerts:
    """Compares levels with the ledger's; whoever changes one in the ledger tells of it.

    Any number of checkers may run; the ledger lets one of them change a level.
    """

    def __init__(self, ledger: Ledger, tell: Tell | None = None) -> None:
        self._ledger = ledger
        self._tell = tell or tell_log

    def check(self, jobs: Iterable[JobRecord], now: datetime, *, complete: bool) -> int:
        """Look at these jobs; with `complete`, alerts of jobs that are gone end too."""
        up = {
            alert.subject: Level(alert.level)
            for alert in self._ledger.events.alerts()
            if alert.kind == AlertKind.FRESHNESS
        }
        alive = {j.subject: j for j in jobs if j.kind is JobKind.REFRESH and j.is_wanted}
        changed = sum(
            self._change(AlertKind.FRESHNESS, subject, before, after, now, detail)
            for subject, before, after, detail in self._late(alive, up, now)
        )
        gone = up.keys() - alive.keys() if complete else set()
        return changed + sum(
            self._change(AlertKind.FRESHNESS, subject, up[subject], Level.FINE, now, {})
            for subject in sorted(gone)
        )

    def check_size(self, subject: str, size_bytes: int, limit_bytes: int, now: datetime) -> bool:
        """Look at how long a source's change history is."""
        up = {
            alert.subject: Level(alert.level)
            for alert in self._ledger.events.alerts()
            if alert.kind == AlertKind.SIZE
        }
        before, after = up.get(subject, Level.FINE), growth(size_bytes, limit_bytes)
        detail = {"bytes": size_bytes, "limit": limit_bytes}
        return before is not after and self._change(
            AlertKind.SIZE, subject, before, after, now, detail
        )

    def _late(
        self, jobs: Mapping[str, JobRecord], up: Mapping[str, Level], now: datetime
    ) -> Iterator[tuple[str, Level, Level, dict[str, Any]]]:
        for subject, job in jobs.items():
            before = up.get(subject, Level.FINE)
            level = freshness(job, job.last_success, now)
            if level is Level.FINE and before is Level.FINE:
                continue
            last = self._last_success(job)
            level = freshness(job, last, now)
            if level is not before:
                yield subject, before, level, {"last_success": last.isoformat() if last else None}

    def _last_success(self, job: JobRecord) -> datetime | None:
        """Also of a refresh by hand, which the job's own row does not tell.

        Of several views the one that waits longest counts.
        """
        ended = [self._last_refresh(view) for view in read_spec(job.spec).views or (job.subject,)]
        all_ended = [moment for moment in ended if moment is not None]
        by_hand = min(all_ended) if len(all_ended) == len(ended) else None
        known = [moment for moment in (by_hand, job.last_success) if moment is not None]
        return max(known, default=None)

    def _last_refresh(self, view: str) -> datetime | None:
        found = self._ledger.attempts.list(view, AttemptState.SUCCEEDED, limit=1)
        return found[0].ended_at if found else None

    def _change(
        self,
        kind: AlertKind,
        subject: str,
        before: Level,
        after: Level,
        now: datetime,
        detail: Mapping[str, Any],
    ) -> bool:
        what = f"{subject} went from {before.value} to {after.value} ({kind.value})"
        event = Event(
            kind.value, subject, after.value, what, {"before": before.value, **detail}, now
        )
        seen = None if before is Level.FINE else before.value
        rests = after is Level.FINE
        if not self._ledger.events.change_alert(event, seen=seen, rests=rests):
            return False
        self._tell(event)
        return True


def tell_log(event: Event) -> None:
    """The way of telling that is always there."""
    log.warning("alert", kind=event.kind, view=event.subject, state=event.level, reason=event.what)
