"""The MERGE that an expert would write by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.matrix.changes import Window
from benchmarks.matrix.contenders import BY_HAND, Told, show
from benchmarks.matrix.hand import Hand
from benchmarks.matrix.procedures import PROCEDURES
from benchmarks.matrix.shapes import Shape
from benchmarks.matrix.tables import Lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class ByHand:
    """One procedure per shape; tables without deletion vectors, as suits MERGE best."""

    name = BY_HAND

    def __init__(self, folder: Path, lake: Lake, spark: SparkSession) -> None:
        self._hand = Hand(folder, lake, spark)

    def build(self, shape: Shape) -> bool:
        if shape.name not in PROCEDURES:
            return False
        for name, query in shape.views.items():
            rows = self._hand.sql(query).write.format("delta")
            rows.option("delta.enableDeletionVectors", "false").save(self._hand.path(name))
            show(self._hand.spark, name, self._hand.path(name))
        return True

    def follow(self, shape: Shape, window: Window) -> Told:
        return Told(PROCEDURES[shape.name](self._hand, window))

    def content(self, view: str) -> DataFrame:
        return self._hand.spark.read.format("delta").load(self._hand.path(view))
