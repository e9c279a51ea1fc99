"""Ten changed rows on a view of 10,000: ours beside the MERGE an expert would write by hand."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING

import headwater
from benchmarks.figures import Figure, seconds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_GROUPS = 10_000
_ROUNDS = 9


def small_change(folder: Path) -> list[Figure]:
    """Both views follow the same commits in the same session, turn by turn."""
    folder.mkdir(parents=True)
    (folder / "headwater.toml").write_text("")
    with headwater.open(folder) as hw:
        spark = hw.workspace.spark
        source, by_hand = str(folder / "orders"), str(folder / "by_hand")
        rows = spark.range(10 * _GROUPS).selectExpr(
            f"id % {_GROUPS} AS g", "CAST(id % 100 AS DECIMAL(10,2)) AS amount"
        )
        rows.write.format("delta").option("delta.enableChangeDataFeed", "true").save(source)
        hw.sql(f"CREATE SOURCE orders FROM DELTA '{source}'")
        hw.sql(
            "CREATE MATERIALIZED VIEW ours AS "
            "SELECT g, sum(amount) AS total, count(*) AS n FROM orders GROUP BY g"
        )
        query = f"SELECT g, sum(amount) AS total, count(*) AS n FROM delta.`{source}` GROUP BY g"
        spark.sql(query).write.format("delta").save(by_hand)
        ours, theirs = [], []
        for number in range(_ROUNDS + 3):
            values = ", ".join(f"({number * 11 + i}, {i}.25)" for i in range(10))
            spark.sql(f"INSERT INTO delta.`{source}` VALUES {values}")
            version = hw.workspace.log_of("orders").latest_version()
            took = [
                seconds(lambda: hw.refresh("ours")),
                seconds(lambda v=version: _merge_by_hand(spark, source, by_hand, v)),
            ]
            if number >= 3:
                ours.append(took[0])
                theirs.append(took[1])
        if not hw.verify("ours").equal:
            raise AssertionError("the view is wrong")
    mine, other = statistics.median(ours), statistics.median(theirs)
    group = "10 rows into a view of 10,000"
    return [
        Figure(group, "headwater", mine, "s"),
        Figure(group, "hand-written MERGE", other, "s"),
        Figure(group, "ratio", mine / other, "x", 1.3),
    ]


def _merge_by_hand(spark: SparkSession, source: str, target: str, version: int) -> None:
    feed = (
        spark.read.format("delta")
        .option("readChangeFeed", "true")
        .option("startingVersion", version)
        .option("endingVersion", version)
        .load(source)
    )
    sign = "CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END"
    feed.createOrReplaceTempView("by_hand_feed")
    spark.sql(
        f"SELECT g, sum(amount * {sign}) AS total, sum({sign}) AS n FROM by_hand_feed GROUP BY g"
    ).localCheckpoint().createOrReplaceTempView("by_hand_change")
    spark.sql(
        f"MERGE INTO delta.`{target}` t USING by_hand_change s ON t.g = s.g "
        "WHEN MATCHED AND t.n + s.n = 0 THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET total = t.total + s.total, n = t.n + s.n "
        "WHEN NOT MATCHED THEN INSERT (g, total, n) VALUES (s.g, s.total, s.n)"
    )
