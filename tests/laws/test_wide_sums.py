"""Sums of decimals that leave no room for ten more digits: added to as long as that is exact."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from headwater.testing.oracle import Oracle, TableStates
from headwater.vocabulary.technique import Technique

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

R = "g int, x decimal(38,2), y decimal(31,4)"
SUMS = "SELECT g, sum(x) AS s, sum(y) + 1 AS t, count(*) AS n FROM r GROUP BY g"
GLOBAL = "SELECT 100.00 * sum(x) / sum(y) AS share FROM r"
_HUGE = Decimal(9) * 10**35


def rows(*values: Decimal | int | None) -> list[tuple]:
    return [(1, None if v is None else Decimal(v), Decimal("0.0001")) for v in values]


@pytest.mark.parametrize("sql", [SUMS, GLOBAL])
def test_wide_sums_are_merged(spark: SparkSession, sql: str) -> None:
    """Inserts, deletes and NULLs change a sum as Spark would compute it."""
    oracle = Oracle(spark)
    for before, after in (
        (rows(1, 2, None), rows(2, None, 5, -(10**20))),
        (rows(1), [*rows(1), (2, None, None)]),
        (rows(1, None), rows(None)),
    ):
        tried, failed = oracle.check(sql, {"r": TableStates(R, before, after)})
        assert failed == []
        assert tried[Technique.MERGE] == "sound"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (rows(_HUGE, _HUGE), rows(_HUGE, _HUGE, 1)),
        (rows(1), rows(1, _HUGE, _HUGE)),
    ],
    ids=["stored", "changed"],
)
def test_a_sum_that_is_too_large_is_not_added_to(
    spark: SparkSession, before: list[tuple], after: list[tuple]
) -> None:
    """Without ANSI mode Spark makes it NULL: that is no state, so a rebuild must follow."""
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "false")
    with pytest.raises(Exception, match="HEADWATER_INEXACT"):
        Oracle(session).check(SUMS, {"r": TableStates(R, before, after)})
