"""A view that asks the clock: its query's result at its frontier, and at the time it was told."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headwater.testing.clock import FrozenClock
from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import Lake, bag, codes

DDL = "k INT, day DATE"
MORNING = datetime(2026, 11, 15, 8, tzinfo=UTC)
HOUR, DAY = 3600, 86_400
RECENT = "SELECT k, day FROM t WHERE day >= current_date() - 2"
TOTALS = "SELECT day, count(*) AS n, max(k) AS top FROM recent GROUP BY day"
STAMPED = "SELECT k, now() AS seen FROM recent"


def day(number: int):
    return datetime(2026, 11, number, tzinfo=UTC).date()


@pytest.fixture(scope="module")
def clock() -> FrozenClock:
    return FrozenClock(MORNING)


@pytest.fixture(scope="module")
def lake(shared_lake: Lake, clock: FrozenClock) -> Lake:
    shared_lake.hw.workspace.clock = clock
    shared_lake.source("t", DDL, [(n, day(n)) for n in range(10, 16)])
    shared_lake.view("recent", RECENT)
    shared_lake.view("totals", TOTALS)
    shared_lake.view("stamped", STAMPED)
    return shared_lake


def days(lake: Lake) -> list[int]:
    return sorted(row["k"] for row in lake.hw.table("recent").collect())


def assert_equal(lake: Lake, *views: str) -> None:
    for view in views or ("recent", "totals", "stamped"):
        assert lake.hw.verify(view).equal, view


def test_the_stamp_says_what_the_clock_told(lake: Lake) -> None:
    """The commit carries the value by which the content can be recomputed at any later time."""
    assert days(lake) == [13, 14, 15]
    assert lake.stamp("recent").frontier.clock == {"current_date": "DATE'2026-11-15'"}
    assert lake.stamp("totals").frontier.clock == {}


def test_one_refresh_tells_all_its_views_one_time(lake: Lake, clock: FrozenClock) -> None:
    """However long the views before it take."""
    lake.on_step = lambda _step: clock.advance(1)
    asked = clock.now()
    lake.refresh()
    lake.on_step = lambda _step: None
    assert asked.strftime("%H:%M:%S") in lake.stamp("stamped").frontier.clock["current_timestamp"]


def test_within_the_day_it_is_an_ordinary_view(lake: Lake, clock: FrozenClock) -> None:
    """Nothing to do is a skip, a change is followed by an append; only `stamped` is made anew."""
    clock.advance(HOUR)
    receipts = lake.refresh()
    assert receipts["recent"].technique is Technique.SKIP
    assert codes(receipts["recent"]) == {"NO_CHANGE"}
    assert receipts["stamped"].technique is Technique.REBUILD
    assert "CLOCK_MOVED" in codes(receipts["stamped"])
    lake.insert("t", (100, day(15)), (101, day(1)))
    assert lake.hw.refresh("recent").technique is Technique.APPEND
    assert days(lake) == [13, 14, 15, 100]
    assert_equal(lake, "recent")


def test_as_days_go_by_rows_come_and_go(lake: Lake, clock: FrozenClock) -> None:
    """No source changed: the difference of the two conditions is asked of the source."""
    clock.advance(DAY)
    explained = lake.hw.explain("recent")
    assert explained.target.clock == {"current_date": "DATE'2026-11-16'"}
    receipts = lake.refresh()
    assert receipts["recent"].technique is Technique.DELTA
    assert (receipts["recent"].rows_inserted, receipts["recent"].rows_deleted) == (0, 1)
    assert days(lake) == [14, 15, 100]
    assert_equal(lake, "totals")
    clock.advance(DAY)
    lake.change("t", delete="k = 14")
    lake.insert("t", (17, day(17)))
    lake.refresh()
    assert days(lake) == [15, 17, 100]
    assert_equal(lake)


def test_a_day_without_a_row_moves_the_clock_alone(lake: Lake, clock: FrozenClock) -> None:
    """Nothing is written; the ledger knows at which time the content holds, and verify asks it."""
    lake.insert("t", (1, day(1)))
    lake.hw.refresh("recent")
    clock.advance(-DAY)  # to the 16th, of which no row is
    lake.change("t", delete="k = 15")
    lake.insert("t", (15, day(15)))
    before = lake.version("recent")
    receipt = lake.hw.refresh("recent")
    assert receipt.technique is Technique.SKIP
    assert lake.version("recent") == before
    assert receipt.frontier.clock == {"current_date": "DATE'2026-11-16'"}
    assert lake.hw.verify("recent").equal
    assert lake.hw.refresh("recent").reasons[0].code == "NO_CHANGE"


def test_a_rebuild_runs_the_words_of_the_query_at_that_time(lake: Lake) -> None:
    lake.hw.refresh("recent", "stamped", full=True, only=True)
    assert_equal(lake, "recent", "stamped")
    seen = {row["seen"] for row in lake.hw.table("stamped").collect()}
    assert len(seen) == 1


def test_a_later_look_at_the_same_content(lake: Lake, clock: FrozenClock) -> None:
    """verify compares at the view's own time, however late it is by now."""
    content = bag(lake.hw.table("recent").collect())
    clock.advance(30 * DAY)
    assert_equal(lake, "recent")
    assert bag(lake.hw.table("recent").collect()) == content


def test_a_column_of_the_clock_s_name_is_a_column(lake: Lake, clock: FrozenClock) -> None:
    """`current_date` without parentheses is what Spark takes it for."""
    lake.source("named", "k INT, current_date DATE", [(1, day(1)), (2, day(2))])
    query = "SELECT k FROM named WHERE current_date > DATE'2026-11-01'"
    lake.view("of_column", query, "POLICY AUTO")
    lake.insert("named", (3, day(3)))
    clock.advance(DAY)
    lake.refresh("of_column")
    assert sorted(row["k"] for row in lake.hw.table("of_column").collect()) == [2, 3]
    assert lake.stamp("of_column").frontier.clock == {}
