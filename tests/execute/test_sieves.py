"""Rows that go are looked up by the column that tells them best apart, then by all columns."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from headwater.execute.relations import Kept, local
from headwater.execute.sieves import Sieves
from headwater.plan.patch import rows_patch
from headwater.plan.sieve import Sieve
from headwater.vocabulary.names import WEIGHT, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LARGE = 10**6


def _kept(spark: SparkSession, frame: DataFrame, *, small: bool) -> Kept:
    return local(spark, frame.toArrow(), frame.schema) if small else Kept(frame, frame.count())


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize(
    ("columns", "best"),
    [
        ({"few": "id % 3", "many": "id", "some": "id % 50"}, "many"),
        ({"holes": "nullif(id, 7)", "some": "id % 50"}, "some"),
        ({"holes": "nullif(id, 7)", "few": "id % 3"}, None),
        ({"text": "cast(id AS string)", "number": "cast(id AS double)"}, None),
    ],
)
def test_the_column_with_most_values_and_no_null(spark: SparkSession, small, columns, best):
    frame = spark.range(100).selectExpr(*(f"{sql} AS {name}" for name, sql in columns.items()))
    sieve = Sieve("going", tuple(columns))
    filled = Sieves({"going": _kept(spark, frame, small=small)}, _LARGE).fill(sieve.mark)
    assert filled == (sieve.mark if best is None else sieve.join(best))


def test_a_small_table_is_searched_by_all_columns_at_once(spark: SparkSession):
    mark = Sieve("going", ("id",)).mark
    kept = {"going": _kept(spark, spark.range(100), small=True)}
    assert Sieves(kept, 1000).fill(mark) == mark
    assert Sieves(kept, None).fill(mark) == mark


@pytest.mark.parametrize("name", ["a", "*/", "/*", "LIKE '/tmp/*'", "`", '"', "{}*/"])
def test_a_mark_is_a_comment_whatever_a_column_is_called(spark: SparkSession, name):
    sieve = Sieve("going", (name,))
    assert spark.sql(f"SELECT 1 {sieve.mark} AS one").collect()[0].one == 1
    frame = spark.range(9).withColumnRenamed("id", name)
    filled = Sieves({"going": _kept(spark, frame, small=True)}, _LARGE).fill(sieve.mark)
    assert filled == sieve.join(name)


def test_a_patch_finds_the_same_rows_with_a_sieve(spark: SparkSession):
    """Equal rows, NULLs, and rows that only share the number that is looked up first."""
    columns = ("id", "name", "worth")
    stored = (
        spark.range(60)
        .selectExpr(
            "nullif(id % 30, 5) AS id",
            "if(id % 7 = 0, NULL, concat('n', id % 4)) AS name",
            "cast(id % 2 AS decimal(9,2)) AS worth",
        )
        .coalesce(1)
        .localCheckpoint()
    )
    placed = stored.selectExpr(
        "*", "'file' AS __hw_file", "monotonically_increasing_id() AS __hw_place"
    )
    placed.createOrReplaceTempView("__hw_view")
    going = stored.where("id % 3 = 0 AND name IS NOT NULL").distinct()
    change = going.selectExpr("*", f"CAST(-1 AS BIGINT) AS {quoted(WEIGHT)}")
    change = change.localCheckpoint()
    change.createOrReplaceTempView("going")
    sql = rows_patch(columns, "going")
    filled = Sieves({"going": _kept(spark, change, small=False)}, _LARGE).fill(sql)
    assert "LEFT SEMI JOIN (SELECT /*+ BROADCAST(r) */ `id`" in filled
    plain, sieved = (Counter(map(tuple, spark.sql(text).collect())) for text in (sql, filled))
    assert sieved == plain
    assert sum(sieved.values()) == going.count() > 0
    assert spark.sql(filled)._jdf.queryExecution().toString().count("BroadcastHashJoin") >= 2
