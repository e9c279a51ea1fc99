"""Windows over all rows: their input is what is stored and its change, not the sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.testing.oracle import Oracle, TableStates
from headwater.vocabulary.technique import Technique

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

S = "k int, g int, n bigint, x double"
U = "k int, w int"

VIEWS = {
    "ranked groups": (
        "SELECT g, sum(n) AS s, rank() OVER (ORDER BY sum(n) DESC) AS r FROM s GROUP BY g"
    ),
    "share of all": "SELECT g, sum(n) / sum(sum(n)) OVER () AS share FROM s GROUP BY g",
    "what is hidden": (
        "SELECT n + 1 AS m, rank() OVER (ORDER BY g) AS r, lag(k) OVER (ORDER BY k) AS l FROM s"
    ),
    "no common partition": (
        "SELECT k, sum(n) OVER (PARTITION BY g) AS a, max(n) OVER (PARTITION BY k) AS b FROM s"
    ),
    "window of window": (
        "SELECT r * 2 AS d, sum(r) OVER (PARTITION BY g ORDER BY r) AS t "
        "FROM (SELECT g, dense_rank() OVER (ORDER BY n) AS r FROM s)"
    ),
    "join": "SELECT k, w, count(*) OVER (ORDER BY w) AS c FROM s JOIN u USING (k)",
    "having below": (
        "SELECT g, c, ntile(2) OVER (ORDER BY c, g) AS half "
        "FROM (SELECT g, count(*) AS c FROM s GROUP BY g HAVING count(*) > 1)"
    ),
    "copies": "SELECT g, row_number() OVER (ORDER BY g) AS r FROM s",
    "zeros": "SELECT x, CAST(x AS STRING) AS t, rank() OVER (ORDER BY g) AS r FROM s",
}
_BEFORE = [(1, 1, 5, 0.0), (1, 1, 5, 0.0), (2, None, 7, -0.0), (3, 2, None, None), (4, 2, 9, 1.5)]
CHANGES = {
    "rows come": ([*_BEFORE, (5, 3, 1, -0.0), (1, 1, 5, 0.0)], True),
    "one of two copies goes": (_BEFORE[1:], False),
    "both copies go": (_BEFORE[2:], False),
    "values change": ([(1, 1, 50, -0.0), *_BEFORE[1:]], False),
    "all go": ([], False),
}


@pytest.fixture(scope="module")
def oracle(spark: SparkSession) -> Oracle:
    return Oracle(spark)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("view", VIEWS)
def test_they_follow(oracle: Oracle, view: str, change: str) -> None:
    after, inserts_only = CHANGES[change]
    tables = {
        "s": TableStates(S, _BEFORE, after, inserts_only),
        "u": TableStates(U, [(1, 1), (2, 2), (2, 3)], [(1, 1), (2, 2), (4, 3)]),
    }
    tried, failed = oracle.check(VIEWS[view], tables, small=len(change) % 2 == 0)
    assert not failed
    assert tried[Technique.REKEY] == "sound"


def test_from_nothing(oracle: Oracle) -> None:
    for view in ("ranked groups", "no common partition"):
        tried, failed = oracle.check(VIEWS[view], {"s": TableStates(S, [], _BEFORE)})
        assert not failed
        assert tried[Technique.REKEY] == "sound"


UNFOLLOWED = {
    "nothing to store": "SELECT count(*) OVER () AS c FROM s",
    "what cannot be stored": (
        "SELECT g, rank() OVER (ORDER BY t.a) AS r "
        "FROM (SELECT g, struct(k AS a, n AS b) AS t FROM s)"
    ),
    "rows left out": "SELECT g, rank() OVER (ORDER BY n) AS r FROM s QUALIFY r > 2",
}


@pytest.mark.parametrize("name", UNFOLLOWED)
def test_what_is_not_stored_is_recomputed(oracle: Oracle, name: str) -> None:
    tables = {"s": TableStates(S, _BEFORE, _BEFORE[1:])}
    tried, failed = oracle.check(UNFOLLOWED[name], tables)
    assert not failed
    assert tried[Technique.REKEY] == "WINDOW_UNPARTITIONED"
