"""What ^C and `kill` do: the first stops cleanly, the second leaves at once."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

INTERRUPTED = 130


class Stop:
    """How often, and by which signal, the command was asked to stop."""

    def __init__(self) -> None:
        self.asked = 0
        self.status = INTERRUPTED

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        """Interrupts whatever runs; what it holds is let go of on the way out.

        A second request does not wait for that: the claims of a dead process are taken over at
        once, and its commits are settled by looking.
        """
        self.asked += 1
        self.status = 128 + number
        if self.asked > 1:
            os._exit(self.status)
        with suppress(OSError):
            sys.stderr.write("\nstopping ... (once more to leave at once)\n")
            sys.stderr.flush()
        raise KeyboardInterrupt


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
