"""Values that are equal in one place of a query and not the same in another."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from headwater.testing.oracle import Oracle, TableStates
from headwater.vocabulary.technique import Technique

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Change = tuple[str, list[Any], list[Any]]
"""DDL, one column's values before, and after."""

UNIONS: dict[str, tuple[str, Change, Change]] = {
    "written as the union has it": (
        (
            "SELECT CAST(x AS STRING) AS c, count(*) AS n FROM "
            "(SELECT a AS x FROM r UNION ALL SELECT b FROM s) GROUP BY 1 HAVING count(*) > 0"
        ),
        ("a int", [1], [1, 1]),
        ("b double", [2.0], [2.0]),
    ),
    "divided as the union has it": (
        (
            "SELECT x / 2 AS c, count(DISTINCT x) AS n FROM "
            "(SELECT a AS x FROM r UNION SELECT b FROM s) GROUP BY 1"
        ),
        ("a int", [1, 3], [1, 5]),
        ("b decimal(10,2)", [Decimal("3.00")], [Decimal("5.00")]),
    ),
    "texts and numbers that are equal": (
        "SELECT a FROM r EXCEPT SELECT b FROM s",
        ("a string", ["1", "01", "7"], ["1", "7"]),
        ("b int", [2], [2]),
    ),
    "numbers and texts that are equal": (
        "SELECT b FROM s INTERSECT ALL SELECT a FROM r",
        ("a string", ["1", "01"], ["01"]),
        ("b bigint", [1, 1], [1, 1]),
    ),
    "looked for in the union": (
        (
            "SELECT q.x, n FROM s JOIN (SELECT x, count(*) AS n FROM "
            "(SELECT a AS x FROM r UNION ALL SELECT b FROM s) GROUP BY x) AS q ON q.x = s.b"
        ),
        ("a int", [1], [1]),
        ("b string", ["1"], ["1", "01"]),
    ),
    "nothing in one branch": (
        (
            "SELECT x, count(*) AS n FROM "
            "(SELECT a AS x FROM r UNION ALL SELECT NULL FROM s) GROUP BY x"
        ),
        ("a int", [1], [1, 2]),
        ("b int", [1], [1, 2]),
    ),
    "places in groups of the union": (
        (
            "SELECT x, row_number() OVER (PARTITION BY CAST(x AS STRING) ORDER BY x) AS p FROM "
            "(SELECT a AS x FROM r UNION ALL SELECT b FROM s)"
        ),
        ("a int", [1, 2], [1, 1]),
        ("b double", [1.0], [1.0, 2.5]),
    ),
}

ZEROS: dict[str, tuple[str, Change]] = {
    "the greatest, written": (
        "SELECT 1 AS g, CAST(max(d) AS STRING) AS c FROM r GROUP BY 1",
        ("d double", [-0.0], [0.0]),
    ),
    "the least of rows": (
        "SELECT 1 AS g, to_json(min(struct(d))) AS c FROM r GROUP BY 1",
        ("d double", [0.0], [-0.0]),
    ),
}

SUMS: dict[str, tuple[str, Change]] = {
    "many digits after the point": (
        "SELECT 1 AS g, sum(x) AS s FROM r GROUP BY 1",
        ("x decimal(28,8)", [Decimal("10.00000001")], [Decimal("10.00000001"), Decimal("1e-8")]),
    ),
    "products of many digits": (
        (
            "SELECT 1 AS g, sum(x * y) AS s FROM (SELECT x, CAST(x AS DECIMAL(14,4)) AS y FROM r) "
            "GROUP BY 1"
        ),
        ("x decimal(13,4)", [Decimal("1.0001")], [Decimal("1.0001"), Decimal("0.0003")]),
    ),
}


@pytest.fixture(scope="module")
def oracle(spark: SparkSession) -> Oracle:
    return Oracle(spark)


def _states(change: Change) -> TableStates:
    ddl, before, after = change
    return TableStates(ddl, [(value,) for value in before], [(value,) for value in after])


def _tried(oracle: Oracle, query: str, *changes: Change) -> set[Technique]:
    """Every technique that is open gives Spark's rows, there and back."""
    sound: set[Technique] = set()
    for turned in (False, True):
        states = (_states((ddl, b, a) if turned else (ddl, a, b)) for ddl, a, b in changes)
        tried, failed = oracle.check(query, dict(zip("rs", states, strict=False)))
        assert failed == []
        sound |= {technique for technique, word in tried.items() if word == "sound"}
    return sound - {Technique.REBUILD}


@pytest.mark.parametrize("name", UNIONS)
def test_branches_of_other_types(oracle: Oracle, name: str) -> None:
    """What is looked for in a branch is what the branch gives to the union."""
    assert _tried(oracle, *UNIONS[name])


@pytest.mark.parametrize("name", ZEROS)
def test_zeros_with_a_sign(oracle: Oracle, name: str) -> None:
    """Extremes take -0.0 for 0.0; what is written of them is not the same."""
    assert _tried(oracle, *ZEROS[name])


@pytest.mark.parametrize("name", SUMS)
def test_sums_keep_all_their_digits(oracle: Oracle, name: str) -> None:
    assert Technique.MERGE not in _tried(oracle, *SUMS[name])


def test_keys_that_are_rounded_to_be_equal(oracle: Oracle) -> None:
    """A whole number is equal to a decimal that lies a little beside it."""
    query = "SELECT r.x, s.y FROM r LEFT JOIN s ON r.x = s.y"
    near = ("x decimal(38,20)", [Decimal("0.99999999999999999999")] * 2, [Decimal(3)] * 2)
    assert _tried(oracle, query, (near[0], near[1], near[1]), ("y bigint", [5], [5, 1]))


def test_groups_of_a_collation_are_not_followed(oracle: Oracle) -> None:
    """A group shows the spelling of any of its rows."""
    query = "SELECT c COLLATE UTF8_LCASE AS c, count(*) AS n FROM r GROUP BY 1"
    assert _tried(oracle, query, ("c string", ["A", "a"], ["a"])) == set()
