"""How many rows a patch puts in and takes out, told alike of a small and of a large one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.execute.census import Census, taken
from headwater.execute.relations import keep
from headwater.vocabulary.names import CHANGE, FILE, PLACE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = f"{FILE} STRING, {PLACE} BIGINT, {CHANGE} STRING"
PATCH = [
    (None, None, "insert"),
    (None, None, "insert"),
    ("a", 0, "delete"),
    ("a", 4, "update_preimage"),
    (None, None, "update_postimage"),
    ("b", 0, "delete"),
]


@pytest.mark.parametrize("small", [True, False])
def test_rows_are_counted_by_kind_and_file(spark: SparkSession, small: bool) -> None:
    patch = keep(spark, spark.createDataFrame(PATCH, SCHEMA), may_be_small=small)
    patch.frame.createOrReplaceTempView("patch")
    assert taken(spark, "patch", patch) == Census(3, 3, {"a": 2, "b": 1})


@pytest.mark.parametrize("small", [True, False])
def test_a_row_goes_once(spark: SparkSession, small: bool) -> None:
    """A file whose rows are counted twice might be taken for empty."""
    twice = [*PATCH, ("a", 0, "delete")]
    patch = keep(spark, spark.createDataFrame(twice, SCHEMA), may_be_small=small)
    patch.frame.createOrReplaceTempView("patch")
    with pytest.raises(ValueError, match="a row of a out twice"):
        taken(spark, "patch", patch)
