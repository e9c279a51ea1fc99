"""What errors mean to a job that runs by itself."""

from __future__ import annotations

import pytest

from headwater.control.results import RunEnd
from headwater.control.retries import is_permanent
from headwater.runner.refreshing import _automatic
from headwater.vocabulary.errors import (
    AsOfBelowFrontier,
    RefreshCanceled,
    RefreshRunning,
    SparkFailed,
    StrictRefused,
    ViewNotReady,
)


@pytest.mark.parametrize(
    ("error", "end", "stops"),
    [
        (RefreshRunning("another"), RunEnd.BUSY, False),
        (AsOfBelowFrontier("another was faster"), RunEnd.BUSY, None),
        (RefreshCanceled("on request"), RunEnd.CANCELED, False),
        (ViewNotReady("building"), RunEnd.FAILED, False),
        (SparkFailed("a step"), RunEnd.FAILED, False),
        (StrictRefused("no way"), RunEnd.FAILED, True),
        (OSError("disk"), RunEnd.FAILED, False),
        (ZeroDivisionError("a bug"), RunEnd.FAILED, True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_stops_a_job(error: Exception, end: RunEnd, stops: bool | None) -> None:
    """Only what must be repaired stops a job; that others are at work or further never does."""
    result = _automatic(error)
    assert result.end is end
    if stops is not None:
        assert is_permanent(result.number) is stops
