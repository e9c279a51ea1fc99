"""When a failed job is tried again."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from headwater.control.retries import (
    FRESH,
    RetryPolicy,
    RetryState,
    after_failure,
    is_permanent,
    number_of,
)
from headwater.vocabulary.errors import HistoryGone, InternalError, LedgerUnreachable, SparkFailed

NOW = datetime(2030, 1, 1, tzinfo=UTC)
TEMPORARY = SparkFailed.number


def test_three_failures() -> None:
    """S7: the wait is 5, 10, 20 s and so on, never above 5 min, and begins afresh."""
    state, waits = FRESH, []
    for _ in range(12):
        state = after_failure(state, TEMPORARY, NOW)
        waits.append((state.retry_at - NOW).total_seconds())
    assert waits == [5, 10, 20, 40, 80, 160, 300, 300, 300, 300, 300, 300]
    assert state.count == 12
    assert after_failure(FRESH, TEMPORARY, NOW).retry_at == NOW + timedelta(seconds=5)


def test_a_thousand_failures_are_no_overflow() -> None:
    """S7: the cap holds for ever."""
    assert RetryPolicy().delay(10**9) == timedelta(minutes=5)
    assert RetryPolicy(timedelta(minutes=9), timedelta(minutes=5)).delay(1) == timedelta(minutes=5)


def test_a_permanent_error_stops_the_job() -> None:
    """Codes from 10000 up wait for a repair, not for a time."""
    state = after_failure(RetryState(2, NOW), HistoryGone.number, NOW)
    assert state == RetryState(3, None)
    assert state.is_stopped
    assert not FRESH.is_stopped
    assert [is_permanent(n) for n in (0, 1, 9_999, 10_000)] == [False, False, False, True]


@pytest.mark.parametrize("state", [FRESH, RetryState(3, NOW), RetryState(1)])
def test_the_state_survives_the_ledger(state: RetryState) -> None:
    """S7: written as JSON and read again it is the same."""
    assert RetryState.from_json(json.loads(json.dumps(state.to_json()))) == state


def test_every_error_has_a_number() -> None:
    """Ours say it; trouble of the machine may pass; what nobody foresaw is a bug."""
    assert number_of(LedgerUnreachable("away")) == LedgerUnreachable.number
    assert not is_permanent(number_of(OSError("disk full")))
    assert number_of(ZeroDivisionError()) == InternalError.number
