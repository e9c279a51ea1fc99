"""Sources, their changes, and views' tables as Spark relations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from headwater.capture.actions import Action
from headwater.capture.log import open_log
from headwater.execute.delta import files_frame
from headwater.execute.feed import feed_rows
from headwater.execute.staged import Stored
from headwater.plan.consolidate import consolidated, difference
from headwater.plan.steps import ReadChanges
from headwater.plan.stored import StoredTable
from headwater.vocabulary.names import FILE, PLACE, WEIGHT, quoted

_FEW_FILES = 32

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def columns_at(
    session: SparkSession, table: StoredTable, version: int | None, names: tuple[str, ...]
) -> DataFrame:
    """Some columns of a table at a version, under the names queries know."""
    return _named(snapshot(session, table.path, version), table, names)


def pinned_columns(
    session: SparkSession, table: StoredTable, version: int, names: tuple[str, ...]
) -> DataFrame:
    """Likewise, for a refresh: a table of few files is read without asking for its state.

    Delta works a new version's state out by Spark jobs, which take longer than a small refresh. A
    table of many files is left to it: its statistics tell which of them a filter can skip.
    """
    log = open_log(table.path)
    if log.statistics(version).files > _FEW_FILES:
        return columns_at(session, table, version, names)
    return _named(files_frame(session, table.path, version, log.files(version)), table, names)


def _named(frame: DataFrame, table: StoredTable, names: tuple[str, ...]) -> DataFrame:
    """A column that is gone is left out: a query that uses it is refused by Spark with its name."""
    there = {column.lower() for column in frame.columns}
    wanted = (name for name in names if table.names.get(name, name).lower() in there)
    return frame.selectExpr(*(table.column(name) for name in wanted))


def snapshot(session: SparkSession, path: str, version: int | None) -> DataFrame:
    """A table at a version; the latest one for None."""
    reader = session.read.format("delta")
    if version is not None:
        reader = reader.option("versionAsOf", version)
    return reader.load(path)


def stored_rows(
    session: SparkSession, stored: Stored, files: Sequence[Action] | None = None
) -> DataFrame:
    """A view's stored rows, each with its place; of all files, or of some."""
    chosen = stored.files if files is None else files
    frame = files_frame(session, stored.path, stored.version, chosen, with_places=True)
    return frame.selectExpr(
        "*", f"_metadata.file_name AS {FILE}", f"_metadata.row_index AS {PLACE}"
    )


def changes(
    session: SparkSession, table: StoredTable, step: ReadChanges, *, in_one: bool = False
) -> DataFrame:
    """Signed rows of (after, up_to]; netted, unless the log proves that rows only came.

    What is read `in_one` task needs no exchange to be netted.
    """
    if not step.has_feed:
        return _snapshot_difference(session, table, step)
    feed, weight = feed_rows(session, table, step)
    rows = signed(feed, weight, table, step.columns)
    rows = rows.coalesce(1) if in_one else rows
    return rows if step.inserts_only else netted(session, table, step, rows)


def wide_changes(
    session: SparkSession,
    table: StoredTable,
    step: ReadChanges,
    choose: Callable[[Sequence[str]], list[str]],
) -> DataFrame:
    """Signed rows, not netted, of the columns that are chosen of all that are there."""
    feed, weight = feed_rows(session, table, step)
    return signed(feed, weight, table, choose(feed.columns))


def signed(feed: DataFrame, weight: str, table: StoredTable, columns: Sequence[str]) -> DataFrame:
    """Some columns under the names queries know, and the weight."""
    shown = (table.column(name) for name in columns)
    return feed.selectExpr(*shown, f"CAST({weight} AS BIGINT) AS {quoted(WEIGHT)}")


def netted(
    session: SparkSession, table: StoredTable, step: ReadChanges, rows: DataFrame
) -> DataFrame:
    """What is left of a row's comings and goings within the window."""
    raw = f"{step.name}_feed"
    rows.createOrReplaceTempView(raw)
    return session.sql(consolidated(step.columns, quoted(raw), table.fragile))


def _snapshot_difference(session: SparkSession, table: StoredTable, step: ReadChanges) -> DataFrame:
    """Without a feed both snapshots are read whole and subtracted."""
    before, after = f"{step.name}_before", f"{step.name}_after"
    pinned_columns(session, table, step.after, step.columns).createOrReplaceTempView(before)
    pinned_columns(session, table, step.up_to, step.columns).createOrReplaceTempView(after)
    sides = f"({_all(after)})", f"({_all(before)})"
    return session.sql(difference(step.columns, *sides, table.fragile))


def _all(relation: str) -> str:
    return f"SELECT * FROM {quoted(relation)}"
