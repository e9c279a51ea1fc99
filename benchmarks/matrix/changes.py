"""The ways a source changes: how much of it, and where."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltalake import DeltaTable

from benchmarks.matrix.tables import Lake, Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DELETED, _INSERTED = 0.2, 0.2
"""Of the changed rows; the others are updated."""

_PARTS = 1_000_000
_AT_ONCE = 4


@dataclass(frozen=True)
class Change:
    """`share` of a table's rows, or so many `rows`, each time; `rounds` are timed."""

    name: str
    title: str
    share: float = 0.0
    rows: int = 0
    clustered: bool = True  # the newest keys, not any
    appends: bool = False
    rounds: int = 1

    def count(self, table: Table, rows: int) -> int:
        """Rows to change in a table made for `rows` facts."""
        return self.rows or max(round(self.share * table.pace * table.size(rows)), 1)


def _shares(*, clustered: bool) -> tuple[Change, ...]:
    word, letter = ("clustered", "c") if clustered else ("spread", "s")
    return tuple(
        Change(
            f"{percent:g}{letter}",
            f"{percent:g} % {word}",
            share=percent / 100,
            clustered=clustered,
            rounds=rounds,
        )
        for percent, rounds in ((0.1, 3), (1, 1), (5, 1), (20, 1))
    )


APPEND = Change("append10", "10 rows appended", rows=10, appends=True, rounds=3)
THOUSAND = Change("1000c", "1,000 rows clustered", rows=1000, rounds=3)
FIRST = Change("first", "one row of all tables that change", share=1e-9)
CHANGES = (APPEND, THOUSAND, *_shares(clustered=True), *_shares(clustered=False))
"""In this order: a MERGE that touches every file takes the order of keys from them."""

Window = dict[str, tuple[int, int]]
"""Table -> first and last version of what is new."""


class Tide:
    """Changes a lake's tables, round by round; the same seed makes the same changes."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._next = {table.name: table.size(lake.rows) for table in lake.tables}
        self._round = 0

    def turn(self, spark: SparkSession, change: Change) -> tuple[Window, int]:
        """Commit one round of a change; what is new, and how many rows.

        A share is one of every table that changes, a number of rows is of the first.
        """
        self._round += 1
        window: Window = {}
        changing = [table for table in self._lake.tables if table.changes]
        turned = changing[:1] if change.rows else changing
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            counts = pool.map(lambda table: self._commit(spark, table, change), turned)
            total = sum(counts)
        for table in turned:
            version = DeltaTable(self._lake.path(table.name)).version()
            window[table.name] = (version, version)
        return window, total

    def _commit(self, spark: SparkSession, table: Table, change: Change) -> int:
        path, count = self._lake.path(table.name), change.count(table, self._lake.rows)
        fresh = count if change.appends else round(count * _INSERTED)
        first = self._next[table.name]
        self._next[table.name] = first + fresh
        new = table.made(spark, self._lake.rows, first, first + fresh, 1)
        if change.appends:
            new.write.format("delta").mode("append").save(path)
            return count
        fresh_rows, batch_rows = f"tide_new_{table.name}", f"tide_batch_{table.name}"
        new.createOrReplaceTempView(fresh_rows)
        touched = self._touched(table, change, count - fresh)
        columns = [c for c in table.columns if c != "id"]
        values = ", ".join(f"{table.updated.get(c, c)} AS {c}" for c in columns)
        gone = f"pmod(xxhash64(id, {self._round}, 1), {_PARTS})"
        least = _PARTS * _DELETED / (1 - _INSERTED)
        batch = spark.sql(
            f"SELECT id, {values}, {gone} < {least} AS gone FROM ({touched}) "
            f"UNION ALL SELECT id, {', '.join(columns)}, false FROM {fresh_rows}"
        ).localCheckpoint()
        batch.createOrReplaceTempView(batch_rows)
        lowest, rows = batch.selectExpr("min(id)", "count(*)").collect()[0]
        spark.sql(
            f"MERGE INTO delta.`{path}` t USING {batch_rows} s ON t.id = s.id "
            f"AND t.id >= {lowest} "
            "WHEN MATCHED AND s.gone THEN DELETE WHEN MATCHED THEN UPDATE SET "
            + ", ".join(f"{c} = s.{c}" for c in table.updated)
            + f" WHEN NOT MATCHED THEN INSERT ({', '.join(table.columns)}) "
            f"VALUES ({', '.join(f's.{c}' for c in table.columns)})"
        )
        return int(rows)

    def _touched(self, table: Table, change: Change, count: int) -> str:
        """Existing rows to update or delete."""
        place = f"delta.`{self._lake.path(table.name)}`"
        if change.clustered:
            above = self._next[table.name] - 4 * count - 1000
            return f"SELECT * FROM {place} WHERE id > {above} ORDER BY id DESC LIMIT {count}"
        most = round(_PARTS * count / table.size(self._lake.rows))
        return f"SELECT * FROM {place} WHERE pmod(xxhash64(id, {self._round}), {_PARTS}) < {most}"
