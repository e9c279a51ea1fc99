"""Ranges with literals that hold every value, and skip what lies between."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pytest

from headwater.execute.bounds import Bounds, Span, apart, ranges, rounded
from headwater.execute.relations import Kept
from headwater.plan.within import Bound, filled, within

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("seed", range(20))
def test_ranges_hold_all_values_and_leave_out_the_widest_gaps(seed):
    random = Random(seed)
    values = sorted({random.randint(-1000, 1000) for _ in range(random.randint(0, 60))})
    found = ranges(values)
    assert all(any(low <= v <= high for low, high in found) for v in values)
    assert all(low in values and high in values for low, high in found)
    assert len(found) <= 16
    skipped = [b[0] - a[1] for a, b in pairwise(found)]
    inside = [
        b - a for a, b in pairwise(values) if any(low <= a and b <= high for low, high in found)
    ]
    assert not skipped or not inside or min(skipped) >= max(inside)


def test_literals_of_every_type():
    def condition(*values, has_null=False):
        return Span(tuple(ranges(list(values))), has_null).condition("k")

    both = condition(1, 2, has_null=True)
    assert both == "(k BETWEEN 0L AND 2L OR k BETWEEN 1L AND 3L OR k IS NULL)"
    assert condition() == "FALSE"
    assert "DATE'2024-02-29'" in condition(dt.date(2024, 2, 29))
    assert condition(Decimal("1E-10")) == "(k BETWEEN -1BD AND 2BD)"
    here = dt.datetime(2024, 1, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    assert "TIMESTAMP'2024-01-01 00:00:00+00:00'" in condition(here)
    assert "TIMESTAMP_NTZ'2023-12-31 00:00:00'" in condition(dt.datetime(2024, 1, 1))  # noqa: DTZ001


def test_decimals_are_kept_apart_by_more_than_a_rounding():
    """Down to the least and up to the greatest that a literal can be."""
    assert apart(Decimal("-1.5"), Decimal("2.25")) == (Decimal(-3), Decimal(4))
    largest = Decimal("9" * 38)
    assert apart(-largest, largest) == (-largest, largest)


def unless_text(key: str, condition: str) -> str:
    """A text that equals a number is none in other rows."""
    return f"if(startswith(typeof({key}), 'string'), TRUE, {condition})"


def test_a_text_is_not_compared_with_numbers(spark: SparkSession):
    """Nothing is left of the question for numbers, and all rows are read for texts."""
    asked = unless_text("k", "(k BETWEEN 4L AND 95L)")
    for made, left in (("id AS k", "k#"), ("concat('x', id) AS k", None)):
        rows = spark.range(3).selectExpr(made).where(asked)
        plan = rows._jdf.queryExecution().optimizedPlan().toString()
        assert "typeof" not in plan
        assert ("Filter" in plan) is (left is not None)
        assert rows.count() == (0 if left else 3)


def test_of_many_values_the_ends_are_known(spark: SparkSession):
    """A large relation is asked for its least and greatest value; all lie in one range."""
    frame = spark.range(5, 95).selectExpr("id", "nullif(id % 10, 3) AS n", "cast(id AS string) s")
    frame.createOrReplaceTempView("many")
    bounds = Bounds(spark, {"many": Kept(frame, 90)})
    several = within(tuple(Bound("x", "many", value) for value in ("`id`", "n", "s")))
    first, second = "(x BETWEEN 4L AND 95L)", "(x BETWEEN -1L AND 10L OR x IS NULL)"
    told = f"{unless_text('x', first)} AND {unless_text('x', second)} AND TRUE"
    assert bounds.fill(several) == told
    assert bounds.fill(within((Bound("y", "many", "n + 1"),))) == (
        unless_text("y", "(y BETWEEN 0L AND 11L OR y IS NULL)")
    )


@pytest.mark.parametrize("seed", range(20))
def test_ends_are_rounded_outward(seed):
    """By little, and to the same ones for values that lie nearly alike."""
    random = Random(seed)
    low = random.randint(-(2**63), 2**63 - 1) >> random.randint(0, 62)
    high = min(low + random.randint(0, 10 ** random.randint(0, 18)), 2**63 - 1)
    least, most = rounded(low, high)
    assert -(2**63) <= least <= low <= high <= most < 2**63
    assert most - least <= (high - low) * 1.125
    assert rounded(1_000_007, 19_999_983) == rounded(1_002_001, 19_998_000)


def test_what_is_small_is_read_whole(spark: SparkSession):
    table = spark.range(5, 95).toArrow()
    kept = {"many": Kept(spark.range(5, 95), 90, table)}
    bound = within((Bound("x", "many", "`id`", "view"),))
    assert Bounds(spark, kept, {"view"}).fill(bound) == "TRUE"
    assert Bounds(spark, kept).fill(bound) == unless_text("x", "(x BETWEEN 4L AND 95L)")


def test_a_mark_is_true_until_it_is_filled():
    bounds = (Bound("(`k`)", "__hw_1_touched", "`it's`"), Bound("x", "r", "y"))
    sql = f"SELECT 1 WHERE {within(bounds)}"
    assert filled(sql, lambda bound: f"<{bound.key} {bound.value}>") == (
        "SELECT 1 WHERE <(`k`) `it's`> AND <x y>"
    )
    assert within((Bound("'*/'", "r", "y"),)) == "TRUE"
