"""Wakes the one loop that waits, from any thread."""

from __future__ import annotations

import threading


class Notifier:
    """Many may wake, one waits; calls that come together are one, and none is ever lost.

    What was said before the wait began, or while the loop was busy, ends the next wait at once.
    """

    def __init__(self) -> None:
        self._turn = threading.Condition()
        self._reasons: set[str] = set()

    def wake(self, reason: str = "") -> None:
        """End the wait; reasons that are equal are told once."""
        with self._turn:
            self._reasons.add(reason)
            self._turn.notify_all()

    def wait(self, seconds: float | None = None) -> frozenset[str]:
        """Why it was woken, all reasons since the last time; none if the time just passed."""
        with self._turn:
            self._turn.wait_for(lambda: self._reasons, seconds)
            return self._taken()

    def take(self) -> frozenset[str]:
        """What a wait would return now, without waiting."""
        with self._turn:
            return self._taken()

    def _taken(self) -> frozenset[str]:
        reasons = frozenset(self._reasons)
        self._reasons.clear()
        return reasons
