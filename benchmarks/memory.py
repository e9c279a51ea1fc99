"""Two hundred refreshes of one process: what it holds at the beginning and at the end."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

import headwater
from benchmarks.figures import Figure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REFRESHES = 200
_WARM_UP = 200
"""By then Spark's store of past jobs and the caches of compiled queries are full. They are bounded;
what is asked is whether anything else grows."""

_GROUPS = 1000
_FLAT = 10
"""Megabytes that two measurements may lie apart."""

_COLLECTIONS = 20
"""At most, before each measurement."""


def figures(value: Mapping[str, Any]) -> list[Figure]:
    """What was measured, as figures with targets."""
    group = f"memory over {value['refreshes']} refreshes"
    heap, python = (value[f"{part}_after"] - value[f"{part}_before"] for part in ("heap", "python"))
    return [
        Figure(group, "JVM heap at the beginning", value["heap_before"], "MB"),
        Figure(group, "JVM heap grown by", heap, "MB", _FLAT),
        Figure(group, "Python process at the beginning", value["python_before"], "MB"),
        Figure(group, "Python process grown by", python, "MB", _FLAT),
    ]


def measured(folder: Path, refreshes: int = REFRESHES) -> dict[str, Any]:
    """In a process of its own, which holds nothing of what was measured before."""
    with ProcessPoolExecutor(1, get_context("spawn")) as alone:
        return alone.submit(_followed, folder, refreshes).result()


def _followed(folder: Path, refreshes: int) -> dict[str, Any]:
    """An aggregate follows small appends: megabytes before and after."""
    folder.mkdir(parents=True)
    (folder / "headwater.toml").write_text("")
    writer = ProcessPoolExecutor(1, get_context("spawn"))
    with writer, headwater.open(folder) as hw:
        spark = hw.spark
        source = str(folder / "orders")
        rows = spark.range(10 * _GROUPS).selectExpr(f"id % {_GROUPS} AS g", "id % 97 AS amount")
        rows.write.format("delta").option("delta.enableChangeDataFeed", "true").save(source)
        hw.sql(f"CREATE SOURCE orders FROM DELTA '{source}'")
        hw.sql(
            "CREATE MATERIALIZED VIEW totals AS "
            "SELECT g, sum(amount) AS total, count(*) AS n FROM orders GROUP BY g"
        )
        for number in range(_WARM_UP):
            _refresh(hw, writer, source, number)
        heap, python = _megabytes(spark)
        for number in range(refreshes):
            _refresh(hw, writer, source, _WARM_UP + number)
        heap_after, python_after = _megabytes(spark)
        equal = hw.verify("totals").equal
    if not equal:
        raise AssertionError("the view is wrong")
    return {
        "refreshes": refreshes,
        "heap_before": heap,
        "heap_after": heap_after,
        "python_before": python,
        "python_after": python_after,
        "flat": _FLAT,
    }


def _refresh(hw: headwater.Headwater, writer: Executor, source: str, number: int) -> None:
    """Rows come from another process, so that nothing but the refresh is measured in this one."""
    writer.submit(_append, source, number).result()
    hw.refresh("totals")


def _append(source: str, number: int) -> None:
    import pyarrow as pa
    from deltalake import write_deltalake

    groups = [(7 * number + i) % _GROUPS for i in range(10)]
    write_deltalake(source, pa.table({"g": groups, "amount": [number % 97] * 10}), mode="append")


def _megabytes(spark: SparkSession) -> tuple[float, float]:
    """Used heap of the JVM and resident size of this process, garbage collected.

    Spark frees what it holds for relations that are gone a little after they were collected, so it
    is collected until nothing more is freed.
    """
    jvm: Any = spark._jvm  # noqa: SLF001
    runtime = jvm.Runtime.getRuntime()
    gc.collect()
    used, before = math.inf, math.inf
    for _ in range(_COLLECTIONS):
        jvm.System.gc()
        time.sleep(1)
        used, before = min(used, runtime.totalMemory() - runtime.freeMemory()), used
        if used > before - 2**20:
            break
    return used / 2**20, psutil.Process().memory_info().rss / 2**20
