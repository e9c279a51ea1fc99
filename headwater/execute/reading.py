"""Sources, their changes, and views' tables as Spark relations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.consolidate import consolidated, difference
from headwater.plan.render import listed
from headwater.plan.steps import ReadChanges
from headwater.vocabulary.names import WEIGHT, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def snapshot(session: SparkSession, path: str, version: int | None) -> DataFrame:
    """A table at a version; the latest one for None."""
    reader = session.read.format("delta")
    if version is not None:
        reader = reader.option("versionAsOf", version)
    return reader.load(path)


def changes(session: SparkSession, path: str, step: ReadChanges) -> DataFrame:
    """Signed rows of (after, up_to]; netted, unless the log proves that rows only came."""
    if not step.has_feed:
        return _snapshot_difference(session, path, step)
    feed = (
        session.read.format("delta")
        .option("readChangeFeed", "true")
        .option("startingVersion", step.after + 1)
        .option("endingVersion", step.up_to)
        .load(path)
    )
    raw = f"{step.name}_feed"
    feed.createOrReplaceTempView(raw)
    sign = "CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END"
    signed = (
        f"SELECT {listed(step.columns)}, CAST({sign} AS BIGINT) AS {quoted(WEIGHT)} "
        f"FROM {quoted(raw)}"
    )
    return session.sql(signed if step.inserts_only else consolidated(step.columns, f"({signed})"))


def _snapshot_difference(session: SparkSession, path: str, step: ReadChanges) -> DataFrame:
    """Without a feed both snapshots are read whole and subtracted."""
    before, after = f"{step.name}_before", f"{step.name}_after"
    snapshot(session, path, step.after).createOrReplaceTempView(before)
    snapshot(session, path, step.up_to).createOrReplaceTempView(after)
    shown = listed(step.columns)
    return session.sql(
        difference(
            step.columns,
            f"(SELECT {shown} FROM {quoted(after)})",
            f"(SELECT {shown} FROM {quoted(before)})",
        )
    )
