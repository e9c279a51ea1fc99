"""What a query asks the clock is found where it stands, and nowhere else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headwater.define.clock_calls import clock_calls
from headwater.vocabulary.clocks import bound, values_at
from headwater.vocabulary.dialect import written
from headwater.vocabulary.errors import WrongUse
from headwater.vocabulary.frontier import Frontier, SourceVersion

LATE = datetime(2026, 11, 15, 23, 30, 1, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT current_date", "SELECT DATE'2026-11-15'"),
        ("SELECT CURDATE ( ) x", "SELECT DATE'2026-11-15' x"),
        (
            "SELECT now() - INTERVAL 1 DAY, Current_Timestamp",
            (
                "SELECT TIMESTAMP_LTZ'2026-11-15 23:30:01.000005 UTC' - INTERVAL 1 DAY, "
                "TIMESTAMP_LTZ'2026-11-15 23:30:01.000005 UTC'"
            ),
        ),
        ("SELECT `now`() - localtimestamp()", None),
        ("SELECT unix_timestamp(), unix_timestamp(a) FROM t", None),
        ("SELECT a FROM t WHERE d IN (SELECT max(d) FROM s WHERE s.d < curdate())", None),
        ("WITH c AS (SELECT current_time() AS x) SELECT x FROM c -- now()", None),
        ("SELECT current_date() AS current_date, t.current_date FROM t", None),
        (
            "SELECT count(*) FILTER (WHERE ts > now()) OVER (PARTITION BY current_date()) FROM t",
            None,
        ),
    ],
)
def test_calls_are_bound_in_text_and_tree_alike(sql: str, told: str | None) -> None:
    """Whoever reads the bound tree reads the bound text."""
    found = clock_calls(sql, ["a", "d", "ts"])
    values = values_at(found.clocks, LATE, "UTC")
    assert found.clocks
    text = bound(found.text, values)
    assert told is None or text == told
    shown = bound(written(found.tree), values)
    assert "`()" not in shown + text
    assert [shown.count(v) for v in values.values()] == [text.count(v) for v in values.values()]


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT current_date FROM t", ["Current_Date"]),
        ("SELECT current_date, now() FROM t", ["current_date"]),
        ("SELECT a AS current_date FROM t ORDER BY current_date", ["a"]),
        ("SELECT a current_date, now() FROM t", ["a"]),
        ("WITH c(current_date) AS (SELECT 1) SELECT current_date FROM c", []),
        ("SELECT current_time(3), now() FROM t", []),
        ("SELECT TIMESTAMP 'now', current_date() FROM t", []),
        ("SELECT date('today'), current_date() FROM t", []),
        ("SELECT builtin.current_date() FROM t", []),
        ("SELECT `now()` FROM (SELECT now() FROM t)", []),
        ("SELECT '`current_date`()', current_date() FROM t", []),
        ("SELECT now, 'now()', unix_timestamp(now) FROM t -- now()", ["now"]),
    ],
)
def test_what_is_not_sure_is_left_alone(sql: str, columns: list[str]) -> None:
    """One doubtful call, and the whole query is kept as it is written."""
    found = clock_calls(sql, columns)
    assert (found.text, found.clocks) == (sql, ())
    assert "`current_" not in written(found.tree).replace("'`current_date`()'", "")


@pytest.mark.parametrize(
    ("zone", "day"),
    [("UTC", 15), ("Asia/Tokyo", 16), ("America/New_York", 15), ("+00:30", 16), ("GMT-08:00", 15)],
)
def test_a_date_is_that_of_the_session_s_zone(zone: str, day: int) -> None:
    assert values_at(["current_date"], LATE, zone) == {"current_date": f"DATE'2026-11-{day}'"}


def test_a_zone_that_nobody_knows_is_named() -> None:
    with pytest.raises(WrongUse, match="Middle/Earth"):
        values_at(["current_date"], LATE, "Middle/Earth")


def test_a_frontier_keeps_what_the_clock_told() -> None:
    """It is another frontier at another time, and the clock is none of its sources."""
    at = {"orders": SourceVersion("id", 3)}
    today = Frontier.of(at, values_at(["current_date"], LATE, "UTC"))
    assert today != Frontier.of(at)
    assert list(today) == ["orders"]
    assert Frontier.from_json(today.to_json()) == today
    assert str(today) == "orders@3, DATE'2026-11-15'"
    assert Frontier.of(at).to_json() == {"orders": {"id": "id", "version": 3}}
