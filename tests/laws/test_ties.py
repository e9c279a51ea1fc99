"""Rows that share a place in a window, where something hangs on which of them is taken.

The new state is read in another order each time, as it is after files were written anew.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from headwater.plan import compiled
from headwater.testing.oracle import Oracle, TableStates
from headwater.vocabulary.technique import Technique
from tests.laws.test_steady import Shuffled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

S = "k int, g int, n int, x double, w string, m map<string,int>"
NEWEST = "row_number() OVER (PARTITION BY g ORDER BY n DESC)"


@pytest.fixture(scope="module")
def oracle(spark: SparkSession) -> Oracle:
    return Shuffled(spark)


VIEWS = {
    "newest, summed": (
        f"SELECT w, sum(k) AS total FROM (SELECT *, {NEWEST} AS place FROM s) "
        "WHERE place = 1 GROUP BY w"
    ),
    "newest, counted": (
        f"SELECT k, count(*) AS c FROM (SELECT * FROM s QUALIFY {NEWEST} = 1) GROUP BY k"
    ),
    "newest, joined": (
        f"SELECT t.w, p.k FROM (SELECT * FROM s QUALIFY {NEWEST} <= 2) AS p "
        "JOIN s AS t ON t.k = p.k"
    ),
    "newest of the newest": (
        f"SELECT w, k FROM (SELECT * FROM s QUALIFY {NEWEST} <= 2) "
        "QUALIFY row_number() OVER (PARTITION BY w ORDER BY n) = 1"
    ),
    "steps, summed": (
        "SELECT g, sum(step) AS way FROM "
        "(SELECT g, k - lag(k) OVER (PARTITION BY g ORDER BY n) AS step FROM s) GROUP BY g"
    ),
    "moving sums that decide": (
        "SELECT k FROM (SELECT k, sum(k) OVER (PARTITION BY g ORDER BY n ROWS 1 PRECEDING) AS two "
        "FROM s) WHERE two > 3"
    ),
    "the last of all rows": (
        "SELECT DISTINCT g, last_value(k) OVER (PARTITION BY g ORDER BY n "
        "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS newest FROM s"
    ),
    "the first": "SELECT DISTINCT g, first_value(k) OVER (PARTITION BY g ORDER BY n) AS f FROM s",
    "latest, counted": (
        "SELECT latest, count(*) AS c FROM "
        "(SELECT g, max_by(k, n) AS latest FROM s GROUP BY g) GROUP BY latest"
    ),
    "earliest of some, counted": (
        "SELECT e, count(*) AS c FROM (SELECT g, min_by(w, n) FILTER (WHERE k > 2) AS e "
        "FROM s GROUP BY g) GROUP BY e"
    ),
    "any three": "SELECT g, count(*) AS c FROM (SELECT * FROM s ORDER BY n LIMIT 3) GROUP BY g",
    "quarters": (
        "SELECT q, sum(k) AS total FROM "
        "(SELECT k, ntile(4) OVER (PARTITION BY g ORDER BY n) AS q FROM s) GROUP BY q"
    ),
}

CANNOT_BE_ORDERED = {
    "peers of a range": (
        "SELECT f, count(*) AS c FROM "
        "(SELECT last_value(k) OVER (PARTITION BY g ORDER BY n) AS f FROM s) GROUP BY f"
    ),
    "maps": (
        f"SELECT m['a'] AS a, count(*) AS c FROM (SELECT * FROM s QUALIFY {NEWEST} = 1) GROUP BY 1"
    ),
    "sums of doubles": (
        "SELECT total, count(*) AS c FROM (SELECT g, sum(x) AS total FROM s GROUP BY g, n) "
        "QUALIFY row_number() OVER (PARTITION BY g ORDER BY g) = 1) GROUP BY total"
    ).replace("g, n) QUALIFY", "g, n QUALIFY"),
}


def states(seed: str) -> TableStates:
    random = Random(seed)
    before = [_row(random) for _ in range(30)]
    kept = [row for row in before if random.random() < 0.9]
    return TableStates(S, before, kept + [_row(random) for _ in range(3)])


def _row(random: Random) -> tuple[object, ...]:
    word = random.choice(["a", "b", None])
    number = random.choice([0, 1, None])
    return random.randrange(9), random.choice([1, 2, None]), number, 0.1, word, [("a", 1)]


@pytest.mark.parametrize("view", VIEWS)
def test_the_same_row_is_taken_again(oracle: Oracle, view: str) -> None:
    """What was stored by one choice is never taken back by another."""
    for number in range(2):
        tried, failed = oracle.check(VIEWS[view], {"s": states(f"{view} {number}")})
        assert failed == []
        ways = {t for t, word in tried.items() if word == "sound"} - {Technique.REBUILD}
        assert ways


@pytest.mark.parametrize("view", CANNOT_BE_ORDERED)
def test_what_cannot_be_ordered_is_not_followed(oracle: Oracle, view: str) -> None:
    tried, _ = oracle.check(CANNOT_BE_ORDERED[view], {"s": states(view)})
    incremental = {word for t, word in tried.items() if t is not Technique.REBUILD}
    assert incremental <= {"FIRST_TO_COME", "ROUNDED"}


def test_without_it_another_row_is_taken(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order that is added is what makes the views above right."""
    monkeypatch.setattr(compiled, "with_ties_broken", lambda root, _sorts, _followed: root)
    monkeypatch.setattr("headwater.plan.soundness.unsettled_columns", lambda _root: frozenset())
    compiled._restored.cache_clear()
    oracle.forget()
    wrong = 0
    for number in range(5):
        wrong += len(oracle.check(VIEWS["newest, summed"], {"s": states(f"{number}")})[1])
    compiled._restored.cache_clear()
    oracle.forget()
    assert wrong


def test_what_is_only_shown_stays_as_it_was_written(oracle: Oracle) -> None:
    """Its partitions are replaced whole, by whatever choice."""
    for text in (f"SELECT k, {NEWEST} AS place FROM s", f"SELECT k, n FROM s QUALIFY {NEWEST} = 1"):
        assert not oracle._compiled(text, {"s": states("any")}).ties_broken
