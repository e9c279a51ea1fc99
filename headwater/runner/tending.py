"""What a runner does for its jobs now and then, whether or not they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from headwater.control.alerts import Alerts
from headwater.control.settings import pause_after
from headwater.store.job_record import JobRecord
from headwater.store.ledger import Ledger
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.settings import ControlSettings


class Tending:
    """A second look at alerts, beside the coordinator's, and the watermarks of quiet jobs."""

    def __init__(
        self, ledger: Ledger, clock: Clock, settings: ControlSettings, alerts: Alerts
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._settings = settings
        self._alerts = alerts
        self._next_look: datetime | None = None
        self._next_flush: datetime | None = None

    def step(
        self,
        runner: str,
        jobs: Callable[[], Iterable[JobRecord]],
        looked_at: datetime | None,
    ) -> None:
        """Do what is due; `looked_at` is up to when the sources were seen to be quiet."""
        now = self._clock.now()
        if self._next_look is None or now >= self._next_look:
            self._alerts.check(jobs(), now, complete=False)
            done = self._clock.now()
            self._next_look = done + pause_after(self._settings.reconcile_seconds, done - now)
        least = timedelta(seconds=self._settings.flush_seconds)
        if self._next_flush is None:
            self._next_flush = now + least
        if now >= self._next_flush and looked_at is not None:
            self._ledger.jobs.flush_watermarks(runner, looked_at, least)
            self._next_flush = now + least
