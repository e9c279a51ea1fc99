"""TPC-H's 22 queries after its refresh functions: incrementally, then beside recomputing them."""

from __future__ import annotations

import subprocess
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import headwater
from benchmarks.figures import Figure, seconds
from benchmarks.matrix.equal import digest
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.technique import Technique
from tests.tpch.queries import TPCH
from tests.tpch.schema import DDL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NEW_KEYS = 1_000_000_000
_ORDERED = {"orders": "o_orderkey", "lineitem": "l_orderkey"}
_MOST = 1.1


def figures(value: Mapping[str, Any]) -> list[Figure]:
    """What was measured, as figures with targets."""
    group = f"TPC-H scale {value['scale']:g}, 0.1 % of orders in and 0.1 % out"
    rebuilt = sum(found["incrementally_by"] == Technique.REBUILD for found in value["queries"])
    shown = [Figure(group, "queries that were not followed incrementally", rebuilt, "", 0)]
    for found in value["queries"]:
        name, ours, theirs = found["query"], found["auto"], found["recompute"]
        shown += [
            Figure(group, f"{name}: headwater ({found['auto_by']})", ours, "s"),
            Figure(group, f"{name}: recompute", theirs, "s"),
            Figure(group, f"{name}: ratio", ours / theirs, "x", _MOST),
        ]
    return shown


def measured(folder: Path, scale: float) -> dict[str, Any]:
    """All views are built, moved incrementally by one batch, and by the next as they like.

    After each batch they are held against their queries.
    """
    folder.mkdir(parents=True)
    (folder / "headwater.toml").write_text("")
    generator = Path(sysconfig.get_path("scripts")) / "tpchgen-cli"
    command = [str(generator), "parquet", "-s", str(scale), "-o", str(folder / "parquet")]
    subprocess.run(command, check=True, capture_output=True)
    with headwater.open(folder) as hw:
        spark = hw.workspace.spark
        for table in DDL:
            _load(spark, folder, table)
            hw.sql(f"CREATE SOURCE {table} FROM DELTA '{folder / table}'")
        for name, query in TPCH.items():
            hw.sql(f"CREATE MATERIALIZED VIEW {name} POLICY INCREMENTAL AS {query}")
        _refresh_functions(spark, folder, 1)
        receipts = {name: hw.refresh(name) for name in TPCH}
        _refuse(name for name in TPCH if not _is_equal(hw, _recomputed(spark, folder, name), name))
        for name in TPCH:
            hw.sql(f"ALTER MATERIALIZED VIEW {name} SET POLICY AUTO")
        _refresh_functions(spark, folder, 2)
        found = [_compared(hw, spark, folder, name, receipts[name]) for name in TPCH]
    _refuse(each["query"] for each in found if not each.pop("equal"))
    return {"scale": scale, "queries": found}


def _refuse(wrong: Iterable[str]) -> None:
    """A figure of a wrong result is worth nothing."""
    names = list(wrong)
    if names:
        raise AssertionError(f"{names} are wrong")


def _load(spark: SparkSession, folder: Path, table: str) -> None:
    """As a warehouse would have them: orders and lines in the order of their keys."""
    rows = spark.read.parquet(str(folder / "parquet" / f"{table}.parquet"))
    rows = rows.sort(rows.columns[0]) if table in _ORDERED else rows.coalesce(1)
    written = rows.write.format("delta").option("delta.enableChangeDataFeed", "true")
    written.save(str(folder / table))


def _refresh_functions(spark: SparkSession, folder: Path, batch: int) -> None:
    """One order of a thousand comes and one goes, with all their lines; some prices change."""
    for table, key in _ORDERED.items():
        place = f"delta.`{folder / table}`"
        copied = f"SELECT {key} + {batch * _NEW_KEYS} AS {key}, * EXCEPT ({key}) FROM {place}"
        spark.sql(f"INSERT INTO {place} {copied} WHERE pmod(hash({key}), 1000) = {batch}")
        spark.sql(f"DELETE FROM {place} WHERE pmod(hash({key}), 1000) = {batch + 500}")
    offers = f"delta.`{folder / 'partsupp'}`"
    spark.sql(
        f"UPDATE {offers} SET ps_supplycost = ps_supplycost + 1 "
        f"WHERE pmod(hash(ps_partkey), 1000) = {batch}"
    )


def _compared(
    hw: headwater.Headwater, spark: SparkSession, folder: Path, name: str, forced: Receipt
) -> dict[str, Any]:
    receipts: list[Receipt] = []
    places: list[str] = []
    ours = seconds(lambda: receipts.append(hw.refresh(name)))
    theirs = seconds(lambda: places.append(_recomputed(spark, folder, name)))
    return {
        "query": name,
        "incrementally": round(forced.seconds, 3),
        "incrementally_by": forced.technique.value,
        "auto": round(ours, 3),
        "auto_by": receipts[0].technique.value,
        "recompute": round(theirs, 3),
        "equal": _is_equal(hw, places[0], name),
    }


def _recomputed(spark: SparkSession, folder: Path, name: str) -> str:
    """Where plain Spark has written what the query gives now."""
    place = str(folder / f"scratch_{name}")
    for table in DDL:
        spark.read.format("delta").load(str(folder / table)).createOrReplaceTempView(table)
    spark.sql(TPCH[name]).write.format("delta").mode("overwrite").save(place)
    return place


def _is_equal(hw: headwater.Headwater, recomputed: str, name: str) -> bool:
    wanted = hw.spark.read.format("delta").load(recomputed)
    return digest(hw.table(name), wanted.columns) == digest(wanted, wanted.columns)
