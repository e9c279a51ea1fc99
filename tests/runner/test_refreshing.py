"""What errors mean to a job that runs by itself."""

from __future__ import annotations

from typing import Any

import pytest
from py4j.protocol import Py4JNetworkError

from headwater.control.results import RunEnd
from headwater.control.retries import is_permanent
from headwater.execute import reviving
from headwater.runner.refreshing import RefreshWork, _automatic
from headwater.runner.run import Run
from headwater.testing.clock import FrozenClock
from headwater.vocabulary.errors import (
    AsOfBelowFrontier,
    RefreshCanceled,
    RefreshRunning,
    SparkFailed,
    StrictRefused,
    ViewNotReady,
)
from tests.jobs import JOB


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


class DeadSpark:
    """A project whose JVM was killed under all that ran there."""

    def __init__(self) -> None:
        self.clock = FrozenClock()
        self.started_spark: Any = object()

    def drop_spark(self, _spark: Any) -> None:
        self.started_spark = None


def test_every_run_that_lost_its_spark_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them finds it dead, the next finds it forgotten; a later error is what it is."""
    monkeypatch.setattr(reviving, "is_alive", lambda _spark: False)
    monkeypatch.setattr(reviving, "forget", lambda _spark: None)
    project: Any = DeadSpark()
    work, run = RefreshWork(project), Run(JOB, "a", lambda: True)
    began = project.clock.now()
    project.clock.advance(5)
    for _ in range(2):
        result = work._result(run, Py4JNetworkError("Error while sending or receiving"), began)
        assert result.end is RunEnd.FAILED
        assert not is_permanent(result.number)
    project.clock.advance(5)
    later = work._result(run, ZeroDivisionError("a bug"), project.clock.now())
    assert is_permanent(later.number)
