"""Closes what the dead left open and keeps every history within its limits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from headwater.store.ledger import Ledger

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class HistoryLimits:
    """How much is kept; attempts also tell how long one may be silent."""

    silent_seconds: float = 30.0
    keep_days: float = 7
    keep_rows: int = 1_000_000
    command_days: float = 1
    event_rows: int = 100_000
    dropped_days: float = 1


class Reaper:
    """Orphaned attempts every minute, histories every hour; safe to run anywhere, any number."""

    def __init__(
        self, ledger: Ledger, limits: HistoryLimits, *, every_seconds: float = 60.0
    ) -> None:
        self._ledger = ledger
        self._limits = limits
        self._every = timedelta(seconds=every_seconds)
        self._next_orphans: datetime | None = None
        self._next_trim: datetime | None = None

    def step(self, now: datetime) -> None:
        """Do what is due."""
        if self._next_orphans is None or now >= self._next_orphans:
            self._next_orphans = now + self._every
            self.close_orphans(now)
        if self._next_trim is None or now >= self._next_trim:
            self._next_trim = now + timedelta(hours=1)
            self.trim(now)

    def close_orphans(self, now: datetime) -> tuple[str, ...]:
        """Free the claims of the dead and close the attempts of the silent."""
        freed = self._ledger.claims.sweep(now)
        silent = self._ledger.attempts.orphan_silent(now, self._limits.silent_seconds)
        orphans = (*(claim.attempt for claim in freed), *silent)
        if orphans:
            log.warning("orphaned", count=len(orphans), attempt=orphans[0])
        return orphans

    def trim(self, now: datetime) -> int:
        """Drop history that is too old or too long; never what is running, pending or alive."""
        limits = self._limits
        return (
            self._ledger.attempts.trim(now, limits.keep_days, limits.keep_rows)
            + self._ledger.commands.trim(now, limits.command_days)
            + self._ledger.events.trim(now, limits.keep_days, limits.event_rows)
            + self._ledger.jobs.clear_dropped(now, limits.dropped_days)
        )
