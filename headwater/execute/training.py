"""A small life of a Spark session, so that a class-data archive holds what refreshes use."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from pyspark import SparkContext

from headwater.config import load_config
from headwater.execute.session import build_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STATEMENTS = (
    """CREATE TABLE delta.`{t}` (k BIGINT, g INT, v DECIMAL(12, 2), s STRING, d DATE) USING DELTA
       TBLPROPERTIES (delta.enableChangeDataFeed = true)""",
    """INSERT INTO delta.`{t}` SELECT id, CAST(id % 7 AS INT), CAST(id AS DECIMAL(12, 2)),
       CAST(id AS STRING), date_add(DATE '2024-01-01', CAST(id AS INT)) FROM range(100)""",
    """CREATE OR REPLACE TEMPORARY VIEW change AS SELECT id AS k, 1 AS g,
       CAST(1 AS DECIMAL(12, 2)) AS v, 'x' AS s, DATE '2024-02-02' AS d FROM range(95, 105)""",
    """MERGE INTO delta.`{t}` t USING change c ON t.k = c.k WHEN MATCHED AND c.k = 99 THEN DELETE
       WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""",
    "DELETE FROM delta.`{t}` WHERE k = 3",
    "UPDATE delta.`{t}` SET g = 2 WHERE k = 4",
)
_QUERIES = (
    "SELECT g, sum(v), count(*), avg(v), min(s), max(d) FROM delta.`{t}` GROUP BY g HAVING g > 0",
    "SELECT a.k, b.s FROM delta.`{t}` a LEFT JOIN delta.`{t}` b ON a.k = b.g ORDER BY 1 LIMIT 5",
    "SELECT DISTINCT g FROM delta.`{t}` UNION ALL SELECT g FROM change",
    "SELECT k, row_number() OVER (PARTITION BY g ORDER BY v) FROM delta.`{t}`",
    "SELECT * FROM delta.`{t}` WHERE k NOT IN (SELECT k FROM change)",
    "DESCRIBE HISTORY delta.`{t}`",
)


def train(folder: Path, options: Sequence[str], limit_seconds: float) -> None:
    """Run a session under the Java options, and wait until its JVM has ended by itself."""
    settings = {
        "spark.driver.extraJavaOptions": " ".join(options),
        "spark.driver.memory": "1g",
        "spark.master": "local[2]",
        "spark.sql.shuffle.partitions": "2",
    }
    spark = build_session(load_config(folder, {}, {"spark": settings}))
    _live(spark, str(folder / "table"))
    spark.stop()
    gateway = SparkContext._gateway  # noqa: SLF001  (to see its JVM end)
    jvm = cast("subprocess.Popen[bytes]", gateway.proc if gateway is not None else None)
    cast("IO[bytes]", jvm.stdin).close()
    if jvm.wait(limit_seconds) != 0:
        raise OSError(f"the JVM ended with status {jvm.returncode}")


def _live(spark: SparkSession, table: str) -> None:
    for statement in _STATEMENTS:
        spark.sql(statement.format(t=table)).collect()
    for query in _QUERIES:
        spark.sql(query.format(t=table)).collect()
    rows = spark.createDataFrame([(1000, 1)], "k BIGINT, g INT").localCheckpoint()
    filled = rows.selectExpr(
        "k", "g", "CAST(1 AS DECIMAL(12, 2)) v", "'y' s", "DATE '2024-01-01' d"
    )
    filled.write.format("delta").mode("append").save(table)
    feed = spark.read.format("delta").option("readChangeFeed", "true")
    feed.option("startingVersion", 1).load(table).groupBy("_change_type").count().collect()
    everything = spark.read.format("delta").load(table)
    everything.write.format("delta").mode("overwrite").save(table)
