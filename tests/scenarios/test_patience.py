"""A change that explodes: the refresh gives it up and rebuilds."""

from __future__ import annotations

import math
import threading
import time

import pytest

from headwater import refresh
from headwater.execute.isolated import tagged
from headwater.execute.patience import Patience
from headwater.plan import planner
from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import Lake


def test_jobs_are_cancelled_when_patience_is_over(small_spark) -> None:
    """A join of one hot key that would take an hour ends with the patience, and so does its job."""
    hot = "SELECT sum(a.id % b.id) FROM range(1, 3000000) a, range(1, 3000000) b"
    patience = Patience(small_spark, "hot", 1.0)
    started = time.monotonic()
    with (
        pytest.raises(Exception, match=r"(?i)cancel"),
        patience,
        tagged(small_spark, "hot"),
    ):
        small_spark.sql(hot).collect()
    assert patience.is_over
    assert time.monotonic() - started < 60


@pytest.mark.parametrize("seconds", [math.inf, 5e9])
def test_there_is_no_limit_where_nothing_is_known(small_spark, seconds: float) -> None:
    """A rebuild of unknown price is no measure; no clock is set for it."""
    before = threading.active_count()
    with Patience(small_spark, "any", seconds) as patience:
        assert threading.active_count() == before
    assert not patience.is_over


def test_a_refresh_that_takes_too_long_is_rebuilt(lake: Lake, monkeypatch) -> None:
    """The rebuild says why, and is right; the next refresh is incremental again."""
    monkeypatch.setattr(planner, "_REBUILD_MARGIN", 100.0)
    lake.source("l", "k INT, v INT", [(1, n) for n in range(5)])
    lake.source("r", "k INT, w INT", [(1, n) for n in range(5)])
    lake.view("pairs", "SELECT l.v, count(*) AS n FROM l JOIN r ON l.k = r.k GROUP BY l.v", "")
    with monkeypatch.context() as hasty:
        hasty.setattr(refresh, "_LEAST_PATIENCE", 0.0)
        hasty.setattr(refresh, "_PATIENCE", 0.0)
        lake.insert("l", (1, 7))
        receipt = lake.refresh("pairs")["pairs"]
    assert receipt.technique is Technique.REBUILD
    (why,) = [reason for reason in receipt.reasons if reason.code == "INCREMENTAL_FAILED"]
    assert "several times" in why.text
    lake.assert_right("pairs")
    lake.insert("r", (1, 9))
    assert lake.refresh("pairs")["pairs"].technique is Technique.MERGE
    lake.assert_right("pairs")
