"""Windows of touched partitions: only rows that see a changed one are computed anew."""

from __future__ import annotations

import datetime as dt
from random import Random
from typing import TYPE_CHECKING

import pytest

from headwater.testing.oracle import Oracle, Rows, TableStates
from headwater.vocabulary.technique import Technique

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

S = "k int, g int, n int, x double, d date, t timestamp, w string"
ALL = "k, n, x, d, t, w"

VIEWS = {
    "the row before": f"lag(n) OVER (PARTITION BY g ORDER BY n, {ALL})",
    "two rows before, backwards": f"lag(w, 2, 'none') OVER (PARTITION BY g ORDER BY n DESC, {ALL})",
    "the row behind": f"lead(x, 1) OVER (PARTITION BY g ORDER BY t, {ALL})",
    "behind, as a negative before": f"lag(k, -1) OVER (PARTITION BY g ORDER BY k, {ALL})",
    "nulls at the other end": f"lag(n) OVER (PARTITION BY g ORDER BY n NULLS LAST, {ALL})",
    "nulls first, backwards": f"lead(n) OVER (PARTITION BY g ORDER BY n DESC NULLS FIRST, {ALL})",
    "moving sum": f"sum(n) OVER (PARTITION BY g ORDER BY d, {ALL} ROWS 1 PRECEDING)",
    "centred": (
        f"max(n) OVER (PARTITION BY g ORDER BY w, {ALL} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)"
    ),
    "behind only": (
        "collect_list(k) OVER (PARTITION BY g "
        f"ORDER BY x, {ALL} ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)"
    ),
    "long before": (
        "first_value(k) OVER (PARTITION BY g "
        f"ORDER BY k DESC, {ALL} ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING)"
    ),
    "before, as behind by less than nothing": (
        f"sum(n) OVER (PARTITION BY g ORDER BY d, {ALL} ROWS BETWEEN -2 FOLLOWING AND 1 FOLLOWING)"
    ),
    "behind, as before by less than nothing": (
        "count(*) OVER (PARTITION BY g ORDER BY n RANGE BETWEEN CURRENT ROW AND -3 PRECEDING)"
    ),
    "to the end": (
        f"sum(n) OVER (PARTITION BY g ORDER BY n, {ALL} "
        "ROWS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING)"
    ),
    "running total": "sum(n) OVER (PARTITION BY g ORDER BY n)",
    "running total, backwards": "count(*) OVER (PARTITION BY g ORDER BY w DESC)",
    "running total over doubles": "count(x) OVER (PARTITION BY g ORDER BY x DESC)",
    "place": f"row_number() OVER (PARTITION BY g ORDER BY n DESC, {ALL})",
    "ranks": "dense_rank() OVER (PARTITION BY g ORDER BY n, w)",
    "close values": (
        "sum(n) OVER (PARTITION BY g ORDER BY n RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)"
    ),
    "close values, backwards": (
        "count(*) OVER (PARTITION BY g ORDER BY n DESC RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING)"
    ),
    "close doubles": (
        "count(*) OVER (PARTITION BY g ORDER BY x RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)"
    ),
    "days": (
        "sum(n) OVER (PARTITION BY g ORDER BY d RANGE BETWEEN INTERVAL 1 DAY PRECEDING "
        "AND CURRENT ROW)"
    ),
    "days as numbers": (
        "sum(n) OVER (PARTITION BY g ORDER BY d RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)"
    ),
    "months": (
        "count(*) OVER (PARTITION BY g ORDER BY d RANGE BETWEEN INTERVAL 1 MONTH PRECEDING "
        "AND INTERVAL 1 MONTH FOLLOWING)"
    ),
    "hours": (
        "sum(n) OVER (PARTITION BY g ORDER BY t DESC RANGE BETWEEN INTERVAL '6' HOUR PRECEDING "
        "AND INTERVAL '2' HOUR FOLLOWING)"
    ),
    "peers": ("sum(n) OVER (PARTITION BY g ORDER BY n RANGE BETWEEN CURRENT ROW AND CURRENT ROW)"),
    "place and the row before": (
        f"row_number() OVER (PARTITION BY g ORDER BY n, {ALL}) * 100 + "
        f"lag(k) OVER (PARTITION BY g ORDER BY n, {ALL})"
    ),
    "both directions": (
        f"lag(k) OVER (PARTITION BY g ORDER BY n, {ALL}) || '-' || "
        f"lag(k) OVER (PARTITION BY g ORDER BY n DESC, {ALL})"
    ),
    "rows and values": (
        f"lag(k) OVER (PARTITION BY g ORDER BY n, {ALL}) || '-' || "
        "sum(n) OVER (PARTITION BY g ORDER BY n RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)"
    ),
    "by two columns": f"lag(n) OVER (PARTITION BY g, k % 2 ORDER BY n + 1, {ALL})",
    "not looking at nulls": f"lag(n) IGNORE NULLS OVER (PARTITION BY g ORDER BY k, {ALL})",
    "by size": "ntile(2) OVER (PARTITION BY g ORDER BY k, n, x, d, t, w)",
    "filtered": (
        f"count(*) FILTER (WHERE n > 1) OVER (PARTITION BY g ORDER BY k, {ALL} ROWS 1 PRECEDING)"
    ),
}
"""A function of `s`, shown beside all columns."""

QUERIES = {
    **{name: f"SELECT s.*, {function} AS f FROM s" for name, function in VIEWS.items()},
    "of sums": (
        "SELECT g, w, total, lag(total) OVER (PARTITION BY g ORDER BY w) AS earlier "
        "FROM (SELECT g, w, sum(n) AS total FROM s GROUP BY g, w)"
    ),
    "of a join, above it a sum": (
        "SELECT name, sum(step) AS way FROM (SELECT name, n - lag(n) OVER (PARTITION BY name "
        f"ORDER BY n, {ALL}) AS step FROM s JOIN u ON s.g = u.g) GROUP BY name"
    ),
}
_DAYS = [dt.date(2024, 1, 28), dt.date(2024, 1, 31), dt.date(2024, 2, 29), dt.date(2024, 3, 31)]
_MORNING = dt.datetime.fromisoformat("2024-03-30")
_NAMES = [(1, "one"), (2, "two"), (None, "none")]


@pytest.fixture(scope="module")
def oracle(spark: SparkSession) -> Oracle:
    return Oracle(spark)


@pytest.mark.parametrize("view", QUERIES)
def test_random_changes(oracle: Oracle, view: str) -> None:
    random = Random(view)
    for number in range(3):
        before = [_row(random, number % 3) for _ in range(random.randrange(25))]
        kept = [row for row in before if random.random() < 0.9]
        after = kept + [_row(random, number % 3) for _ in range(random.randrange(3))]
        names = _NAMES if number % 2 else [*_NAMES[1:], (1, "uno")]
        tables = {
            "s": TableStates(S, before, after),
            "u": TableStates("g int, name string", _NAMES, names),
        }
        tried, failed = oracle.check(QUERIES[view], tables, small=number % 2 == 0)
        assert failed == []
        if before != after:
            assert tried[Technique.REKEY] == "sound"


def test_rows_far_from_a_change_are_not_computed(oracle: Oracle) -> None:
    """One of a hundred rows changes: it, and those that see it, are compared."""
    before = [(k, 1, k, 0.0, None, None, "a") for k in range(100)]
    after = [(k, 1, k, 0.0, None, None, "b" if k == 50 else "a") for k in range(100)]
    edges = _edges_of(oracle, before, after)
    ends = [edges[f"__hw_touched_{end}"] for end in ("lowest", "low", "high", "highest")]
    assert ends == [48, 49, 51, 52]


def test_rows_that_share_a_place_are_all_seen(oracle: Oracle) -> None:
    """The row before the first of five on one day matters, as any of them may be the last."""
    days = [*range(10), *[10] * 5, *[11] * 40]
    before = [(k, 1, n, 0.0, None, None, "a") for k, n in enumerate(days)]
    for day, lowest in ((11, 9), (12, None)):
        after = [*before, (99, 1, day, 0.0, None, None, "b")]
        edges = _edges_of(oracle, before, after)
        assert edges["__hw_touched_lowest"] == lowest


def _edges_of(oracle: Oracle, before: Rows, after: Rows) -> dict[str, object]:
    """Of the one partition, where each row sees the one before it and the one behind it."""
    for name in _edges(oracle):
        oracle._session.catalog.dropTempView(name)
    view = (
        f"SELECT k, min(w) OVER (PARTITION BY g ORDER BY n, {ALL} "
        "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS f FROM s"
    )
    _, failed = oracle.check(view, {"s": TableStates(S, before, after)})
    assert not failed
    (name,) = _edges(oracle)
    (edges,) = oracle._session.table(name).collect()
    return edges.asDict()


def _edges(oracle: Oracle) -> list[str]:
    return [row.viewName for row in oracle._session.sql("SHOW VIEWS LIKE '*_edges'").collect()]


def _row(random: Random, wide: int) -> tuple[object, ...]:
    """Of few values, so that many rows share a place; or of more, so that neighbours are far."""
    few = [1, 2, 3, None] if wide == 0 else [*range(0, 60, 3), None]
    hour = random.choice([*range(0, 90, 7 if wide else 30), None])
    at = None if hour is None else _MORNING + dt.timedelta(hours=hour)
    x = random.choice([0.0, -0.0, 1.5, 2.0, 9.5, float("nan"), None])
    day = random.choice([*_DAYS, None])
    k, g, n = random.randrange(5), random.choice([1, 1, 2, None]), random.choice(few)
    return k, g, n, x, day, at, random.choice(["a", "b", None])
