"""Least and greatest values under deletes: a group is computed anew only if it loses one."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from headwater.testing.oracle import Oracle, TableStates
from headwater.vocabulary.technique import Technique

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

S = "k int, g int, n bigint, x double, w string, f boolean"
U = "g int, name string"

VIEWS = {
    "beside sums": (
        "SELECT g, max(n) AS hi, min(n) AS lo, sum(k) AS s, avg(k) AS a, count(*) AS c "
        "FROM s GROUP BY g"
    ),
    "alone": "SELECT max(n) AS hi FROM s GROUP BY g",
    "computed": "SELECT g % 2 AS p, max(n) - min(k + n) AS span FROM s GROUP BY g % 2",
    "doubles and texts": "SELECT g, max(x) AS x, min(w) AS w, min(x) AS y FROM s GROUP BY g",
    "truth": "SELECT g, bool_and(f) AS every, bool_or(f) AS some FROM s GROUP BY g",
    "pairs": "SELECT g, max((n, w)) AS last FROM s GROUP BY g",
    "filtered": "SELECT g, max(n) FILTER (WHERE k > 1) AS hi FROM s WHERE f OR k > 0 GROUP BY g",
    "of all": "SELECT max(n) AS hi, min(w) AS lo, count(*) AS c FROM s",
    "of a join": (
        "SELECT name, max(n) AS hi, count(*) AS c FROM s JOIN u ON s.g = u.g GROUP BY name"
    ),
    "of both sides": "SELECT a.g, max(b.n) AS hi FROM s a JOIN s b ON a.k = b.k GROUP BY a.g",
    "of groups": (
        "SELECT g, max(t) AS hi FROM (SELECT g, w, sum(n) AS t FROM s GROUP BY g, w) GROUP BY g"
    ),
    "of different rows": "SELECT g, min(n) AS lo FROM (SELECT DISTINCT g, n FROM s) GROUP BY g",
}
_BEFORE = [
    (1, 1, 5, 0.5, "a", True),
    (2, 1, 9, -0.0, "b", False),
    (3, 1, 9, 0.0, "b", None),
    (4, 2, 7, None, "c", True),
    (5, None, None, 2.5, None, True),
    (6, None, 3, float("nan"), "d", False),
    (1, 3, 1, 1.0, "e", True),
    (1, 3, 1, 1.0, "e", True),
]
CHANGES = {
    "others go": (_BEFORE[1:], 0),
    "both go": ([_BEFORE[0], *_BEFORE[3:]], 1),
    "one of two copies goes": (_BEFORE[:-1], 1),
    "one goes, more comes": ([*_BEFORE[:1], *_BEFORE[3:], (9, 1, 99, 9.0, "z", True)], 0),
    "one goes, as much comes": ([*_BEFORE[:2], (9, 1, 9, 9.0, "z", True), *_BEFORE[3:]], 0),
    "one goes, less comes": ([*_BEFORE[:1], *_BEFORE[3:], (9, 1, 8, 9.0, "z", True)], 1),
    "a group goes": ([*_BEFORE[:3], *_BEFORE[4:]], 0),
    "a group comes": ([*_BEFORE[1:], (9, 9, 9, 9.0, "z", True)], 0),
    "values that are not there": ([*_BEFORE[:4], *_BEFORE[5:]], 0),
    "the last value goes": ([*_BEFORE[:5], *_BEFORE[6:]], 1),
    "all go": ([], 0),
}
"""What `s` is afterwards, and how many groups are asked for the greatest `n`."""

_NAMES = [(1, "one"), (2, "two"), (3, "one"), (None, "none")]


@pytest.fixture(scope="module")
def oracle(spark: SparkSession) -> Oracle:
    return Oracle(spark)


@pytest.mark.parametrize("change", CHANGES)
def test_groups_are_asked_for_where_they_lose_one(oracle: Oracle, change: str) -> None:
    """And what the others store is right all the same."""
    for name in _asked(oracle):
        oracle._session.catalog.dropTempView(name)
    after, asked = CHANGES[change]
    view = "SELECT g, max(n) AS hi FROM s GROUP BY g"
    tried, failed = oracle.check(view, {"s": TableStates(S, _BEFORE, after)})
    assert not failed
    assert tried[Technique.MERGE] == "sound"
    (relation,) = _asked(oracle)
    assert oracle._session.table(relation).count() == asked


def _asked(oracle: Oracle) -> list[str]:
    return [row.viewName for row in oracle._session.sql("SHOW VIEWS LIKE '*_asked'").collect()]


@pytest.mark.parametrize("view", VIEWS)
def test_random_changes(oracle: Oracle, view: str) -> None:
    random = Random(view)
    states = [(_BEFORE, CHANGES["one goes, less comes"][0]), (_BEFORE, [])]
    for _ in range(3):
        before = [_row(random) for _ in range(random.randrange(12))]
        kept = [row for row in before if random.random() < 0.6]
        states.append((before, kept + [_row(random) for _ in range(random.randrange(5))]))
    for number, (before, after) in enumerate(states):
        names = _NAMES if number % 2 else [*_NAMES[1:], (1, "uno")]
        tables = {"s": TableStates(S, before, after), "u": TableStates(U, _NAMES, names)}
        tried, failed = oracle.check(VIEWS[view], tables, small=number % 2 == 0)
        assert failed == []
        assert tried.get(Technique.MERGE, "sound") == "sound"


def _row(random: Random) -> tuple[object, ...]:
    g, n = random.choice([1, 2, 3, None]), random.choice([1, 2, 3, None])
    x, f = random.choice([0.0, -0.0, 1.5, float("nan"), None]), random.choice([True, False, None])
    return random.randrange(4), g, n, x, random.choice(["a", "b", None]), f
