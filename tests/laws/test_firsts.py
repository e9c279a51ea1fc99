"""First rows of partitions: what is stored answers, and the query is asked only where it must."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from headwater.testing.oracle import Oracle, TableStates
from headwater.vocabulary.technique import Technique

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

S = "k int, g int, n bigint, x double, w string"
U = "g int, name string"

VIEWS = {
    "latest": (
        "SELECT g, n, w FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY n DESC, k, x, w)"
        " AS nth FROM s) WHERE nth = 1"
    ),
    "order is hidden": (
        "SELECT w, g FROM s QUALIFY row_number() OVER (PARTITION BY g ORDER BY k, n, x, w) = 1"
    ),
    "partition is hidden": (
        "SELECT upper(w) AS u, nth + 1 AS m FROM (SELECT w, row_number() OVER "
        "(PARTITION BY g, k % 2 ORDER BY n NULLS LAST, k, x, w) AS nth FROM s) WHERE 1 >= nth"
    ),
    "by an expression": (
        "SELECT k, w FROM s "
        "QUALIFY rank() OVER (PARTITION BY coalesce(g, 0) ORDER BY n + k DESC) < 2"
    ),
    "by a double": (
        "SELECT g, x FROM s QUALIFY dense_rank() OVER (PARTITION BY g ORDER BY x DESC) = 1"
    ),
    "two each": (
        "SELECT g, n, k FROM s QUALIFY row_number() OVER (PARTITION BY g ORDER BY n, k, x, w) <= 2"
    ),
    "two places each": (
        "SELECT * FROM (SELECT g, n, dense_rank() OVER (PARTITION BY g ORDER BY n) AS place, "
        "rank() OVER (PARTITION BY g ORDER BY n) AS r FROM s) WHERE place < 3"
    ),
    "of all": "SELECT k, n, w FROM s QUALIFY row_number() OVER (ORDER BY n DESC, k, g, x, w) <= 2",
    "the first of all": "SELECT k, n FROM s QUALIFY rank() OVER (ORDER BY n DESC, k) = 1",
    "some are left out": (
        "SELECT g, n FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY n, k, x, w) AS nth "
        "FROM s) WHERE nth = 1 AND k > 1"
    ),
    "of a join": (
        "SELECT name, n FROM (SELECT name, n, row_number() OVER (PARTITION BY name "
        "ORDER BY n DESC, k, x, w, s.g) AS nth FROM s JOIN u ON s.g = u.g) WHERE nth <= 1"
    ),
    "beside one row of all": (
        "SELECT g, n FROM (SELECT g, n FROM s UNION ALL SELECT 0, max(k) FROM s) "
        "QUALIFY row_number() OVER (PARTITION BY g ORDER BY n) = 1"
    ),
    "of one row of all, beside others": (
        "SELECT g, c FROM (SELECT count(*) AS c FROM u) q CROSS JOIN s "
        "QUALIFY row_number() OVER (PARTITION BY 1 ORDER BY g, k, n, x, w) = 1"
    ),
    "of groups": (
        "SELECT g, w, total FROM (SELECT g, w, sum(n) AS total FROM s GROUP BY g, w) "
        "QUALIFY row_number() OVER (PARTITION BY g ORDER BY total DESC, w) = 1"
    ),
}
_BEFORE = [
    (1, 1, 5, 0.5, "a"),
    (2, 1, 7, -0.0, "b"),
    (3, 1, 7, 0.0, "b"),
    (4, 2, 9, None, "c"),
    (5, None, None, 2.5, None),
    (6, None, 3, 1.0, "d"),
    (1, 3, 1, 1.0, "e"),
    (1, 3, 1, 1.0, "e"),
]
CHANGES = {
    "one comes first": ([*_BEFORE, (0, 1, 99, 9.0, "z"), (0, 2, -1, 9.0, "z")], True),
    "one comes last": ([*_BEFORE, (9, 1, 6, 0.2, "z")], True),
    "one comes beside": ([*_BEFORE, (1, 1, 5, 0.5, "a")], True),
    "two come first": ([*_BEFORE, (0, 1, 99, 9.0, "z"), (0, 1, 99, 9.0, "y")], True),
    "a partition comes": ([*_BEFORE, (7, 7, 7, 7.0, "g")], True),
    "the first goes": ([_BEFORE[0], *_BEFORE[2:]], False),
    "one of two copies goes": (_BEFORE[:-1], False),
    "both copies go": (_BEFORE[:-2], False),
    "one moves": ([*_BEFORE[:3], (4, 1, 9, None, "c"), *_BEFORE[4:]], False),
    "the first changes": (
        [(1, 1, 50, 0.5, "a"), *_BEFORE[1:3], (4, 2, 10, 0.1, "c"), *_BEFORE[4:]],
        False,
    ),
    "all go": ([], False),
}
_NAMES = [(1, "one"), (2, "two"), (3, "one"), (None, "none")]


@pytest.fixture(scope="module")
def oracle(spark: SparkSession) -> Oracle:
    return Oracle(spark)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("view", ["latest", "two places each", "some are left out"])
def test_they_follow(oracle: Oracle, view: str, change: str) -> None:
    after, inserts_only = CHANGES[change]
    tables = {
        "s": TableStates(S, _BEFORE, after, inserts_only),
        "u": TableStates(U, _NAMES, _NAMES if inserts_only else [*_NAMES[1:], (1, "uno")]),
    }
    tried, failed = oracle.check(VIEWS[view], tables, small=len(change) % 2 == 0)
    assert not failed
    assert tried[Technique.REKEY] == "sound"


@pytest.mark.parametrize("view", VIEWS)
def test_random_changes(oracle: Oracle, view: str) -> None:
    random = Random(view)
    for _ in range(3):
        before = [_row(random) for _ in range(random.randrange(12))]
        kept = [row for row in before if random.random() < 0.7]
        after = kept + [_row(random) for _ in range(random.randrange(5))]
        tables = {"s": TableStates(S, before, after), "u": TableStates(U, _NAMES, _NAMES)}
        tried, failed = oracle.check(VIEWS[view], tables)
        assert failed == []
        assert tried.get(Technique.REKEY, "sound") == "sound"


def _row(random: Random) -> tuple[int, int | None, int | None, float | None, str]:
    g, n = random.choice([1, 2, 3, None]), random.choice([1, 2, 3, None])
    return random.randrange(4), g, n, random.choice([0.0, 1.5, None]), random.choice("ab")


ASKED = {
    "one comes first": 0,
    "one comes last": 0,
    "a partition comes": 0,
    "one moves": 1,
    "both copies go": 1,
    "the first changes": 0,
}


@pytest.mark.parametrize("change", ASKED)
def test_the_query_is_only_asked_where_it_must(oracle: Oracle, change: str) -> None:
    """Of how many partitions it is asked for what follows."""
    after, inserts_only = CHANGES[change]
    for name in _asked(oracle):
        oracle._session.catalog.dropTempView(name)
    oracle.check(VIEWS["latest"], {"s": TableStates(S, _BEFORE, after, inserts_only)})
    (asked,) = _asked(oracle)
    assert oracle._session.table(asked).count() == ASKED[change]


def _asked(oracle: Oracle) -> list[str]:
    return [row.viewName for row in oracle._session.sql("SHOW VIEWS LIKE '*_asked'").collect()]


UNFOLLOWED = {
    "a later place": "SELECT k FROM s QUALIFY row_number() OVER (ORDER BY n, k, g, x, w) = 2",
    "all but the first": "SELECT k FROM s QUALIFY row_number() OVER (ORDER BY n, k, g, x, w) > 1",
    "another function": "SELECT k FROM s QUALIFY ntile(2) OVER (ORDER BY n, k, g, x, w) = 1",
    "another window": (
        "SELECT k, count(*) OVER () AS c FROM s QUALIFY rank() OVER (ORDER BY n, k) = 1"
    ),
}


@pytest.mark.parametrize("name", UNFOLLOWED)
def test_others_are_recomputed(oracle: Oracle, name: str) -> None:
    tables = {"s": TableStates(S, _BEFORE, _BEFORE[1:])}
    tried, failed = oracle.check(UNFOLLOWED[name], tables)
    assert not failed
    assert tried[Technique.REKEY] == "WINDOW_UNPARTITIONED"
