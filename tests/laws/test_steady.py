"""Values that are another one each time they are computed: what must not hang on them.

The new state is read in another order each time, as it is after an exchange between machines.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from headwater.testing.oracle import Oracle, TableStates
from headwater.vocabulary.technique import Technique
from tests.laws.shuffled import Shuffled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def oracle(spark: SparkSession) -> Oracle:
    return Shuffled(spark)


SUMS = "(SELECT g, w, sum(x) AS total FROM s GROUP BY g, w)"
ORDERED_BY_SUMS = {
    "a sum itself": (
        "SELECT g, w, rank() OVER (PARTITION BY g ORDER BY sum(x)) AS f FROM s GROUP BY g, w"
    ),
    "backwards": (
        "SELECT g, w, rank() OVER (PARTITION BY g ORDER BY sum(x) DESC) AS f FROM s GROUP BY g, w"
    ),
    "a sum of a query": (
        f"SELECT g, w, lag(w) OVER (PARTITION BY g ORDER BY total) AS f FROM {SUMS}"
    ),
    "made of a sum": (
        f"SELECT g, w, row_number() OVER (PARTITION BY g ORDER BY total * 2 DESC) AS f FROM {SUMS}"
    ),
}


@pytest.mark.parametrize("view", ORDERED_BY_SUMS)
def test_ordered_by_sums_of_doubles(oracle: Oracle, view: str) -> None:
    """The sum may be a digit lower where the row is looked for than where its change was seen."""
    random = Random(view)
    before = [(1, "a", 1.5), (1, "b", 5.5), (1, "c", 9.5)]
    after = before + [(1, "d", 100 + random.random()) for _ in range(60)]
    for _ in range(2):
        tables = {"s": TableStates("g int, w string, x double", before, after)}
        tried, failed = oracle.check(ORDERED_BY_SUMS[view], tables)
        assert failed == []
        assert tried[Technique.REKEY] == "sound"


FIRST = "(SELECT g, n, first(k) AS k FROM s GROUP BY g, n)"
ONE = "(SELECT * FROM s QUALIFY row_number() OVER (PARTITION BY g, n ORDER BY n) = 1)"


@pytest.mark.parametrize("below", [FIRST, ONE])
def test_ordered_by_a_choice_among_equal_rows(oracle: Oracle, below: str) -> None:
    """Whichever row is taken, there is one for each n."""
    before = [(n, 1, n) for n in range(20)] + [(100 + n, 1, n) for n in range(20)]
    tables = {"s": TableStates("k int, g int, n int", before, [*before, (50, 1, 50)])}
    query = f"SELECT n, g, count(*) OVER (PARTITION BY g ORDER BY k) > 0 AS f FROM {below}"
    tried, failed = oracle.check(query, tables)
    assert failed == []
    assert tried[Technique.REKEY] == "sound"


DECIDING = {
    "grouped by": f"SELECT k, count(*) AS n FROM {FIRST} GROUP BY k",
    "chosen by": f"SELECT g, n FROM {FIRST} WHERE k > 3",
    "joined by": f"SELECT f.n, s.k FROM {FIRST} AS f JOIN s ON f.k = s.k",
    "one of each": f"SELECT DISTINCT g, k FROM {FIRST}",
}


@pytest.mark.parametrize("view", DECIDING)
def test_what_comes_first_decides(oracle: Oracle, view: str) -> None:
    """It is not followed: what was once chosen by another value could not be taken back."""
    tried, _ = oracle.check(DECIDING[view], _one_more())
    ways = (Technique.APPEND, Technique.MERGE, Technique.DELTA, Technique.REKEY)
    assert {tried[way] for way in ways} == {"FIRST_TO_COME"}


def test_what_comes_first_is_not_added_up(oracle: Oracle) -> None:
    """Its groups are computed anew."""
    tried, _ = oracle.check(f"SELECT g, sum(k) AS total FROM {FIRST} GROUP BY g", _one_more())
    assert tried[Technique.MERGE] == "FIRST_TO_COME"
    assert tried[Technique.REKEY] == "sound"


def test_what_comes_first_is_shown(oracle: Oracle) -> None:
    tried, _ = oracle.check("SELECT g, first(k) AS k FROM s GROUP BY g", _one_more())
    assert tried[Technique.REKEY] == "sound"


def _one_more() -> dict[str, TableStates]:
    return {"s": TableStates("k int, g int, n int", [(1, 1, 1)], [(1, 1, 1), (2, 1, 1)])}
