"""A clock that stands still until it is told otherwise."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

START = datetime(2030, 1, 1, tzinfo=UTC)


class FrozenClock:
    """Shows a given moment; sleeping on it moves it on at once, so nothing ever really waits."""

    def __init__(self, now: datetime = START) -> None:
        self._now = now
        self._turn = threading.Lock()

    def now(self) -> datetime:
        return self._now

    def sleep(self, seconds: float) -> None:
        self.advance(seconds)

    def advance(self, seconds: float) -> datetime:
        """Move the hands and return the new moment."""
        with self._turn:
            self._now += timedelta(seconds=seconds)
            return self._now
