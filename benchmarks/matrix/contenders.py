"""Who keeps the views: Headwater as it likes, Headwater by a forced technique, plain Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
FORCED = ("append", "merge", "delta", "rekey", "rebuild")


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
    """Headwater in a project of its own; a forced technique where one is named."""

    def __init__(self, folder: Path, lake: Lake, technique: str | None = None) -> None:
        self.name = technique or AUTO
        self._technique = technique
        folder.mkdir(parents=True)
        (folder / "headwater.toml").write_text("")
        self.hw = headwater.open(folder)
        self._lake = lake

    def build(self, shape: Shape) -> bool:
        for table in shape.tables:
            path = self._lake.path(table.name)
            self.hw.sql(f"CREATE SOURCE IF NOT EXISTS {table.name} FROM DELTA '{path}'")
        for name, query in shape.views.items():
            self.hw.sql(f"CREATE MATERIALIZED VIEW {name} AS {query}")
        return True

    def follow(self, shape: Shape, _window: Window) -> Told:
        """The last view and all it reads; where the technique is not sound, by any."""
        *_, last = shape.views
        try:
            receipt = self.hw.refresh(last, technique=self._technique)
        except TechniqueRefused as refused:
            self.hw.refresh(last)
            raise NotSound(str(refused)) from None
        return Told(receipt.technique.value, dict(receipt.forecast))

    def sound(self, shape: Shape) -> set[str]:
        """The techniques that keep the last view under updates and deletes."""
        *_, last = shape.views
        verdicts = self.hw.explain(last).verdicts
        open_to = {v.technique.value for v in verdicts if v.sound}
        return open_to | ({"append"} if shape.appendable else set())

    def content(self, view: str) -> DataFrame:
        return self.hw.table(view)

    def close(self) -> None:
        self.hw.close()


class Recomputed:
    """Plain Spark: the query, written over a plain Delta table."""

    name = RECOMPUTE

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self._folder = folder
        self._spark = spark

    def build(self, shape: Shape) -> bool:
        self.follow(shape, {})
        return True

    def follow(self, shape: Shape, _window: Window) -> Told:
        for name, query in shape.views.items():
            path = str(self._folder / name)
            self._spark.sql(query).write.format("delta").mode("overwrite").save(path)
            if len(shape.views) > 1:
                show(self._spark, name, path)
        return Told("overwrite")

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
