"""TPC-H: a group-by and a three-way join kept beside recomputing them, 0.1 % of orders deleted."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import headwater
from benchmarks.figures import Figure, seconds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TABLES = ("customer", "orders", "lineitem")
_VIEWS = {
    "by_supplier": (
        "SELECT l_suppkey, sum(l_extendedprice) AS revenue, count(*) AS n "
        "FROM lineitem GROUP BY l_suppkey"
    ),
    "by_customer": (
        "SELECT c_custkey, c_name, sum(l_extendedprice) AS revenue, count(*) AS n FROM customer "
        "JOIN orders ON c_custkey = o_custkey JOIN lineitem ON o_orderkey = l_orderkey "
        "GROUP BY c_custkey, c_name"
    ),
}


def tpch_views(folder: Path, scale: float) -> list[Figure]:
    """Both ways on the same tables, after the same change."""
    folder.mkdir(parents=True)
    (folder / "headwater.toml").write_text("")
    generator = Path(sysconfig.get_path("scripts")) / "tpchgen-cli"
    command = [str(generator), "parquet", "-s", str(scale), "-o", str(folder / "parquet")]
    subprocess.run([*command, "--tables", ",".join(_TABLES)], check=True, capture_output=True)
    with headwater.open(folder) as hw:
        spark = hw.workspace.spark
        for table in _TABLES:
            path = str(folder / table)
            spark.read.parquet(str(folder / "parquet" / f"{table}.parquet")).repartition(
                4
            ).write.format("delta").option("delta.enableChangeDataFeed", "true").option(
                "delta.enableDeletionVectors", "false"
            ).save(path)
            hw.sql(f"CREATE SOURCE {table} FROM DELTA '{path}'")
        for name, query in _VIEWS.items():
            hw.sql(f"CREATE MATERIALIZED VIEW {name} AS {query}")
        figures = []
        for remainder in (0, 1):
            _delete(spark, folder, remainder)
            figures = [f for name in _VIEWS for f in _compared(hw, spark, folder, name, scale)]
        for name in _VIEWS:
            if not hw.verify(name).equal:
                raise AssertionError(f"{name} is wrong")
    return figures


def _delete(spark: SparkSession, folder: Path, remainder: int) -> None:
    """One order of a thousand with its lines, spread over all files."""
    for table, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
        spark.sql(
            f"DELETE FROM delta.`{folder / table}` WHERE pmod(hash({key}), 1000) = {remainder}"
        )


def _compared(
    hw: headwater.Headwater, spark: SparkSession, folder: Path, name: str, scale: float
) -> list[Figure]:
    group = f"TPC-H scale {scale:g}, 0.1 % of orders deleted, spread"
    scratch = str(folder / f"scratch_{name}")

    def recompute() -> None:
        for table in _TABLES:
            spark.read.format("delta").load(str(folder / table)).createOrReplaceTempView(table)
        spark.sql(_VIEWS[name]).write.format("delta").mode("overwrite").save(scratch)

    receipts = []
    ours = seconds(lambda: receipts.append(hw.refresh(name)))
    theirs = seconds(recompute)
    return [
        Figure(group, f"{name}: headwater ({receipts[0].technique})", ours, "s"),
        Figure(group, f"{name}: recompute", theirs, "s"),
        Figure(group, f"{name}: ratio", ours / theirs, "x", 1.0),
    ]
