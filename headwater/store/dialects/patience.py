"""A PostgreSQL connection that never waits for ever.

psycopg limits the time to connect, the server the time a statement may run; neither helps against a
server that is frozen or a network that swallows packets. Here every wait for an answer ends at a
deadline that the calling thread has set before.
"""

from __future__ import annotations

import threading
import time
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen

Answer = TypeVar("Answer")

_SHORTEST_WAIT = 0.01
_TOO_LATE = "no answer in time"


class Patience(threading.local):
    """How long the calling thread is still willing to wait."""

    deadline = float("inf")

    def start(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds

    def check(self) -> None:
        """Raise when there is none left, before something new is begun."""
        if time.monotonic() >= self.deadline:
            raise psycopg.OperationalError(_TOO_LATE)

    @property
    def left(self) -> float:
        return max(_SHORTEST_WAIT, self.deadline - time.monotonic())


patience = Patience()


class PatientConnection(psycopg.Connection[Any]):
    """Gives up, and hangs up, when the thread's patience ends: the answer may come too late."""

    def wait(
        self, gen: PQGen[Answer], interval: float = 0.1, timeout: float | None = None
    ) -> Answer:
        deadline = patience.deadline
        limit = patience.left if timeout is None else min(timeout, patience.left)
        try:
            return super().wait(gen, interval, None if limit == float("inf") else limit)
        except psycopg.OperationalError:
            if time.monotonic() < deadline:
                raise
            self.close()
            raise psycopg.OperationalError(_TOO_LATE) from None
