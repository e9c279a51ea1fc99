"""What a view's own table says of its refreshes, and whether its rows are what they should be."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests import tables
from tests.scenarios.lake import Lake, bag

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass
class Witness:
    """Reads tables and logs by another implementation than the one that wrote them."""

    lake: Lake
    spark: SparkSession  # of its own
    checks: int = 0  # views compared with Spark's own result at their frontier

    def has_landed(self, view: str, attempt: str) -> bool:
        return any(stamp["attempt"] == attempt for _, stamp in self.stamps(view))

    def stamps(self, view: str) -> list[tuple[int, dict[str, Any]]]:
        """Version and stamp of every commit of ours, oldest first, read from the log itself."""
        found = []
        for file in tables.log_files(self.lake.path(view)):
            infos = [line for line in file.read_text().splitlines() if '"commitInfo"' in line]
            for info in infos:
                note = json.loads(info)["commitInfo"].get("userMetadata")
                if note:
                    found.append((int(file.stem), json.loads(note)))
        return found

    def check(self, views: list[str]) -> None:
        """At its newest commit each view is Spark's own result at the frontier that it names."""
        for view in views:
            if not Path(self.lake.path(view), "_delta_log").exists():
                continue
            stamps = self.stamps(view)
            assert_once([stamp for _, stamp in stamps])
            version, stamp = stamps[-1]
            expected = self._recomputed(stamp)
            found = tables.read(self.lake.path(view), version).select(expected.column_names)
            assert counted(found) == counted(expected), (view, version, stamp["technique"])
            self.checks += 1

    def _recomputed(self, stamp: dict[str, Any]) -> Any:
        """By Spark, of rows that another reader than Spark found in the sources."""
        for source, seen in stamp["frontier"].items():
            rows = tables.read(self.lake.path(source), seen["version"])
            self.spark.createDataFrame(rows).createOrReplaceTempView(source)
        query = stamp["statement"].partition(" AS ")[2]
        return self.spark.sql(query).toArrow()

    def told(self) -> str:
        return f"{self.checks} times a view was compared with Spark's result at its frontier: equal"


def counted(table: Any) -> Counter[str]:
    return bag(tuple(row.values()) for row in table.to_pylist())


def assert_once(stamps: list[dict[str, Any]]) -> None:
    """Every sequence exactly once, in order; every attempt at most once; frontiers go forward."""
    sequences = [stamp["sequence"] for stamp in stamps]
    assert sequences == list(range(1, len(sequences) + 1)), sequences
    attempts = [stamp["attempt"] for stamp in stamps]
    assert len(set(attempts)) == len(attempts)
    for earlier, later in itertools.pairwise(stamps):
        for source, seen in earlier["frontier"].items():
            now = later["frontier"].get(source, seen)
            assert now["id"] != seen["id"] or now["version"] >= seen["version"]
