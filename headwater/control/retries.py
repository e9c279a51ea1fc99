"""When a failed job is tried again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headwater.vocabulary.errors import FIRST_PERMANENT, HeadwaterError, InternalError

SUCCESS = 0
_MACHINE_TROUBLE = (OSError, MemoryError)
"""Raised by the machine rather than by our code: like everything of that kind it may pass."""


@dataclass(frozen=True)
class RetryPolicy:
    """The wait doubles from `base` with every failure in a row, up to `longest`."""

    base: timedelta = timedelta(seconds=5)
    longest: timedelta = timedelta(minutes=5)

    def delay(self, failures: int) -> timedelta:
        """The wait after so many failures in a row."""
        wait = self.base
        for _ in range(failures - 1):
            if wait >= self.longest:
                break
            wait *= 2
        return min(wait, self.longest)


@dataclass(frozen=True)
class RetryState:
    """Failures in a row, and when to try again.

    With failures and no time the job is stopped: its error was permanent, so trying again before
    something is repaired is useless.
    """

    count: int = 0
    retry_at: datetime | None = None

    @property
    def is_stopped(self) -> bool:
        return self.count > 0 and self.retry_at is None

    def to_json(self) -> dict[str, Any]:
        at = None if self.retry_at is None else self.retry_at.isoformat()
        return {"count": self.count, "retry_at": at}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> RetryState:
        at = value["retry_at"]
        return cls(int(value["count"]), None if at is None else datetime.fromisoformat(at))


FRESH = RetryState()


def after_failure(
    state: RetryState, number: int, now: datetime, policy: RetryPolicy | None = None
) -> RetryState:
    """One more failure, with the number of its error."""
    count = state.count + 1
    if is_permanent(number):
        return RetryState(count)
    return RetryState(count, now + (policy or RetryPolicy()).delay(count))


def is_permanent(number: int) -> bool:
    """Whether something must be repaired before a retry makes sense."""
    return number >= FIRST_PERMANENT


def number_of(error: BaseException) -> int:
    """The number that decides about a retry; behind what nobody foresaw may be the machine."""
    if isinstance(error, InternalError) and error.__cause__ is not None:
        return number_of(error.__cause__)
    if isinstance(error, HeadwaterError):
        return error.number
    return 1 if isinstance(error, _MACHINE_TROUBLE) else InternalError.number
