"""A thread that does one thing again and again, and never dies of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime

import structlog

from headwater.runner.notifier import Notifier
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.errors import LedgerUnreachable

_AFTER_FAILURE_SECONDS = 1.0
_LONGEST_WAIT_SECONDS = 60.0

log = structlog.get_logger(__name__)


class Loop:
    """Calls a step, waits until the moment it returned or until woken, and so on until stopped."""

    def __init__(self, name: str, step: Callable[[], datetime], clock: Clock) -> None:
        self.name = name
        self._step = step
        self._clock = clock
        self._notifier = Notifier()
        self._is_stopped = False
        self._thread = threading.Thread(target=self._work, name=f"headwater-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Come now, from any thread."""
        self._notifier.wake()

    def stop(self, seconds: float) -> bool:
        """Let the step that runs end; tells whether it did in time."""
        self._is_stopped = True
        self._notifier.wake()
        if self._thread.ident is not None:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while not self._is_stopped:
            self._notifier.wait(min(_LONGEST_WAIT_SECONDS, self._stepped()))

    def _stepped(self) -> float:
        """Seconds until the next step; an exception of any kind only delays it."""
        try:
            until = self._step()
        except LedgerUnreachable as error:
            log.warning("ledger_away", error=error.what)
            return _AFTER_FAILURE_SECONDS
        except Exception:
            log.exception("loop_failed", reason=self.name)
            return _AFTER_FAILURE_SECONDS
        return max(0.0, (until - self._clock.now()).total_seconds())
