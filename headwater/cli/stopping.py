"""What ^C and `kill` do: the first stops cleanly, a later one leaves at once."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

INTERRUPTED = 130
_ECHO_SECONDS = 1.0
"""Signals that come this soon after the first are the same request: `timeout` sends two."""


class Stop:
    """How often, and by which signal, the command was asked to stop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.status = INTERRUPTED
        self._clock = clock
        self._asked_at: float | None = None

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        """Interrupts whatever runs; what it holds is let go of on the way out.

        A second request does not wait for that: the claims of a dead process are taken over at
        once, and its commits are settled by looking.
        """
        now = self._clock()
        if self._asked_at is None:
            self._asked_at = now
            self.status = 128 + number
            with suppress(OSError):
                sys.stderr.write("\nstopping ... (once more to leave at once)\n")
                sys.stderr.flush()
            raise KeyboardInterrupt
        if now - self._asked_at > _ECHO_SECONDS:
            os._exit(self.status)


@contextmanager
def stoppable() -> Iterator[Stop]:
    """While a command runs, SIGINT and SIGTERM stop it cleanly."""
    stop = Stop()
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
