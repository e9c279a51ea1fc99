"""Who keeps the views: Headwater as it likes, Headwater by a forced technique, plain Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import headwater
from benchmarks.matrix.changes import Window
from benchmarks.matrix.shapes import Shape
from benchmarks.matrix.tables import Lake
from headwater.vocabulary.errors import TechniqueRefused

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AUTO, RECOMPUTE, BY_HAND = "auto", "recompute", "by hand"
APPEND, INCREMENTAL, REBUILD = "append", "incremental", "rebuild"
FORCED = (APPEND, "merge", "delta", "rekey", INCREMENTAL, REBUILD)
PIPELINES = "pipelines"
SHOWN = (AUTO, RECOMPUTE, BY_HAND, *FORCED, PIPELINES)


class NotSound(Exception):
    """The technique is not open to this view under this change."""


@dataclass(frozen=True)
class Told:
    """What a contender says it did."""

    technique: str = ""
    forecast: Mapping[str, float] = field(default_factory=dict)


class Contender(Protocol):
    """One way of keeping views, with tables of its own."""

    name: str

    def build(self, shape: Shape) -> bool:
        """Fill the shape's views; false if this is no way to keep them."""

    def follow(self, shape: Shape, window: Window) -> Told:
        """Bring them up to date."""

    def content(self, view: str) -> DataFrame:
        """What a view holds now."""


class Kept:
    """Headwater in a project of its own; `way` is a forced technique, or the policy INCREMENTAL."""

    def __init__(self, folder: Path, lake: Lake, way: str = AUTO) -> None:
        self.name = way
        self._technique = None if way in {AUTO, INCREMENTAL} else way
        self._policy = "POLICY INCREMENTAL" if way == INCREMENTAL else ""
        folder.mkdir(parents=True)
        (folder / "headwater.toml").write_text("")
        self.hw = headwater.open(folder)
        self._lake = lake

    def build(self, shape: Shape) -> bool:
        for table in shape.tables:
            path = self._lake.path(table.name)
            self.hw.sql(f"CREATE SOURCE IF NOT EXISTS {table.name} FROM DELTA '{path}'")
        for name, query in shape.views.items():
            self.hw.sql(f"CREATE MATERIALIZED VIEW {name} {self._policy} AS {query}")
        return True

    def follow(self, shape: Shape, _window: Window) -> Told:
        """All views of the shape; where the technique is not sound, by any."""
        outcome = self.hw.refresh_all(shape.views, technique=self._technique)
        for error in outcome.failures.values():
            if not isinstance(error, TechniqueRefused):
                raise error
        if outcome.failures:
            self.catch_up(shape)
            raise NotSound
        receipts = outcome.receipts.values()
        if shape.is_graph:
            used = Counter(receipt.technique.value for receipt in receipts)
            return Told(" ".join(f"{n} {technique}" for technique, n in used.most_common()))
        (receipt,) = receipts
        return Told(receipt.technique.value, dict(receipt.forecast))

    def catch_up(self, shape: Shape) -> None:
        """By any technique."""
        for error in self.hw.refresh_all(shape.views).failures.values():
            raise error

    def sound(self, shape: Shape) -> set[str]:
        """The ways open to the view under the change that waits; a graph has no single one."""
        if shape.is_graph:
            return set() if shape.is_costly else {INCREMENTAL, REBUILD}
        (view,) = shape.views
        open_to = {v.technique.value for v in self.hw.explain(view).verdicts if v.sound}
        return open_to | ({APPEND} if shape.appendable else set())

    def content(self, view: str) -> DataFrame:
        return self.hw.table(view)

    def close(self) -> None:
        self.hw.close()


class Recomputed:
    """Plain Spark: the queries, written over plain Delta tables; as many at once as Headwater."""

    name = RECOMPUTE

    def __init__(self, folder: Path, spark: SparkSession, at_once: int) -> None:
        self._folder = folder
        self._spark = spark
        self._at_once = at_once
        self._shown: set[str] = set()

    def build(self, shape: Shape) -> bool:
        self.follow(shape, {})
        return True

    def follow(self, shape: Shape, _window: Window) -> Told:
        if not shape.is_graph:
            self._write(shape, shape.name)
            return Told("overwrite")
        sorter = TopologicalSorter(shape.reads())
        sorter.prepare()
        with ThreadPoolExecutor(self._at_once) as pool:
            running: dict[Future[None], str] = {}
            while sorter.is_active():
                for name in sorter.get_ready():
                    running[pool.submit(self._write, shape, name)] = name
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    done.result()
                    sorter.done(running.pop(done))
        return Told("overwrite")

    def _write(self, shape: Shape, name: str) -> None:
        rows = self._spark.sql(shape.views[name]).write.format("delta")
        rows.mode("overwrite").save(str(self._folder / name))
        if name not in self._shown:  # once, when it is built
            show(self._spark, name, str(self._folder / name))
            self._shown.add(name)

    def content(self, view: str) -> DataFrame:
        return self._spark.read.format("delta").load(str(self._folder / view))


def show(spark: SparkSession, name: str, path: str) -> None:
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT * FROM delta.`{path}`")


def forget(spark: SparkSession, lake: Lake) -> None:
    """As if nobody had read the sources' newest versions yet: each contender pays for that."""
    jvm: Any = spark._jvm  # noqa: SLF001
    path = jvm.org.apache.hadoop.fs.Path
    log = jvm.org.apache.spark.sql.delta.DeltaLog
    for table in lake.tables:
        log.invalidateCache(spark._jsparkSession, path(lake.path(table.name)))  # noqa: SLF001
