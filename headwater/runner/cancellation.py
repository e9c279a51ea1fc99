"""A wish to stop that reaches whatever is running at the time."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Cancellation:
    """Set once, from any thread; those who asked are called at once or when it is set."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._is_set = False
        self._calls: list[Callable[[], None]] = []

    @property
    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        """Ask for the end; twice is harmless."""
        with self._turn:
            self._is_set = True
            calls, self._calls = self._calls, []
        for call in calls:
            call()

    def when_set(self, call: Callable[[], None]) -> None:
        """Call this when the end is asked for, which may have been already."""
        with self._turn:
            if not self._is_set:
                self._calls.append(call)
                return
        call()
