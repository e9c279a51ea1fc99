"""What an expert's procedures are written with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.matrix.changes import Window
from benchmarks.matrix.tables import Lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Hand:
    """A session, the sources, and the tables that are kept."""

    def __init__(self, folder: Path, lake: Lake, spark: SparkSession) -> None:
        self._folder = folder
        self._lake = lake
        self.spark = spark.newSession()
        self.spark.conf.set("spark.databricks.delta.merge.materializeSource", "none")
        lake.register(self.spark)

    def path(self, view: str) -> str:
        return str(self._folder / view)

    def sql(self, query: str) -> DataFrame:
        return self.spark.sql(query)

    def made(self, name: str, query: str) -> DataFrame:
        """A relation that is evaluated once, by name."""
        rows = self.spark.sql(query).localCheckpoint()
        rows.createOrReplaceTempView(name)
        return rows

    def feed(self, table: str, window: Window, columns: str) -> DataFrame:
        """The change feed as `feed`."""
        first, last = window[table]
        read = self.spark.read.format("delta").option("readChangeFeed", "true")
        rows = read.option("startingVersion", first).option("endingVersion", last)
        rows.load(self._lake.path(table)).createOrReplaceTempView("whole_feed")
        return self.made("feed", f"SELECT {columns}, _change_type FROM whole_feed")

    def append(self, view: str, rows: DataFrame) -> None:
        rows.write.format("delta").mode("append").save(self.path(view))

    def overwrite(self, view: str, rows: DataFrame) -> None:
        rows.write.format("delta").mode("overwrite").save(self.path(view))

    def upsert(self, view: str, change: str, columns: str) -> None:
        """Rows by `id`: those marked `gone` go; the keys' range keeps files from being read."""
        low, high = self.sql(f"SELECT min(id), max(id) FROM {change}").collect()[0]
        if low is None:
            return
        names = [name.strip() for name in columns.split(",")]
        self.sql(
            f"MERGE INTO delta.`{self.path(view)}` t USING {change} s "
            f"ON t.id = s.id AND t.id BETWEEN {low} AND {high} "
            "WHEN MATCHED AND s.gone THEN DELETE WHEN MATCHED THEN UPDATE SET "
            + ", ".join(f"{name} = s.{name}" for name in names)
            + f" WHEN NOT MATCHED AND NOT s.gone THEN INSERT ({columns}) "
            f"VALUES ({', '.join(f's.{name}' for name in names)})"
        )

    def add(self, view: str, change: str, keys: str, sums: str) -> None:
        """Groups by `keys`: their sums grow; a group goes at count 0."""
        by, added = keys.split(", "), sums.split(", ")
        self.sql(
            f"MERGE INTO delta.`{self.path(view)}` t USING {change} s ON "
            + " AND ".join(f"t.{key} = s.{key}" for key in by)
            + " WHEN MATCHED AND t.n + s.n = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET "
            + ", ".join(f"{name} = t.{name} + s.{name}" for name in added)
            + f" WHEN NOT MATCHED THEN INSERT ({keys}, {sums}) VALUES ("
            + ", ".join(f"s.{name}" for name in (*by, *added))
            + ")"
        )
