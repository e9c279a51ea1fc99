"""Functions that users register: followed like built-in ones, and known by their body."""

from __future__ import annotations

import pytest

from headwater.execute.own_functions import own_functions
from headwater.testing.oracle import Oracle, TableStates
from headwater.vocabulary.technique import Technique

TABLES = {
    "r": TableStates(
        "k int, g int",
        [(1, 1), (2, 1), (3, None), (4, 2)],
        [(1, 1), (2, 2), (3, None), (5, 1)],
    )
}


@pytest.fixture(scope="module")
def own(spark):
    from pyspark.sql.functions import udf

    spark.udf.register("hw_twice", lambda x: None if x is None else x * 2, "int")
    spark.udf.register("hw_dice", udf(lambda: 4, "int").asNondeterministic())
    return spark


def test_a_registered_function_is_followed(own) -> None:
    """A deterministic Python function in a filter, a projection and an aggregate's argument."""
    sql = "SELECT g, sum(hw_twice(k)) AS s FROM r WHERE hw_twice(k) < 9 GROUP BY g"
    tried, failed = Oracle(own).check(sql, TABLES)
    assert failed == []
    assert tried[Technique.MERGE] == "sound"


def test_a_function_that_is_not_deterministic_is_not_followed(own) -> None:
    """Its old value cannot be computed again, so the view is rebuilt."""
    tried, _ = Oracle(own).check("SELECT k, hw_dice() AS d FROM r", TABLES)
    assert {word for t, word in tried.items() if t is not Technique.REBUILD} == {"UNKNOWN_FUNCTION"}


def test_another_body_has_another_fingerprint(own) -> None:
    """The name alone does not say what a function does."""
    before = own_functions(own, ["hw_twice", "hw_dice", "upper", "nobody"])
    assert set(before) == {"hw_twice"}
    assert own_functions(own, ["hw_twice"]) == before
    own.udf.register("hw_twice", lambda x: None if x is None else x * 3, "int")
    after = own_functions(own, ["hw_twice"])
    assert after["hw_twice"].fingerprint != before["hw_twice"].fingerprint
