"""The one commit that changes a view, per kind of write."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from headwater.capture.actions import Action
from headwater.capture.state import LiveFiles
from headwater.commit.lock import commit_lock
from headwater.commit.target import Target
from headwater.commit.transaction import Transaction
from headwater.execute.reading import stored_rows
from headwater.execute.staged import Staged, Stored
from headwater.plan.patch import fed, patched
from headwater.plan.render import listed
from headwater.plan.steps import Append, Overwrite, Patch, Write
from headwater.vocabulary.names import CHANGE, FILE, TRANSACTION_APP, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TOUCHED = "__hw_touched_files"
_FILE_BYTES = 128 * 2**20
"""About how large the files of a view should be."""

_TASK_BYTES = 2**20
_TASK_ROWS = 50_000
_MOST_TASKS = 16
"""Files are written anew by several tasks, each into a file, if that leaves so much for each."""


@singledispatch
def write(step: Write, staged: Staged, target: Target) -> None:
    """Carry out a write; whether it landed is for the committer to find out."""
    raise TypeError(f"no writer for {type(step).__name__}")


@write.register
def _append(step: Append, staged: Staged, target: Target) -> None:
    transaction = Transaction(staged.session, target, staged.recorder)
    transaction.add(_fitting(_rows(staged, step), _stored(staged)).coalesce(1))
    transaction.commit()


@write.register
def _patch(step: Patch, staged: Staged, target: Target) -> None:
    """Files that lose rows are written anew without them; the others stay as they are."""
    stored = _require(staged.stored)
    transaction = Transaction(staged.session, target, staged.recorder)
    touched = _touched_files(step, staged, stored)
    losing = stored_rows(staged.session, stored, touched)
    losing.createOrReplaceTempView(_TOUCHED)
    content = patched(step.columns, step.identity, _TOUCHED, step.relation)
    if touched and stored.has_feed:
        marked = f"SELECT *, CAST(NULL AS STRING) AS {CHANGE} FROM ({content})"
        content = f"{marked} UNION ALL {fed(step.columns, step.relation)}"
    frame = _fitting(staged.session.sql(content), losing)
    transaction.add(frame.coalesce(_parts(touched, staged.session)))
    transaction.remove(touched)
    transaction.commit()


@write.register
def _overwrite(step: Overwrite, staged: Staged, target: Target) -> None:
    """The whole content; a table that gets other columns or none yet is left to Delta."""
    if staged.stored is None or target.reshapes:
        with staged.recorder.part("files", staged.session):
            _replace(_rows(staged, step), target)
        return
    transaction = Transaction(staged.session, target, staged.recorder)
    transaction.add(_fitting(_rows(staged, step), _stored(staged)))
    transaction.remove(staged.stored.files)
    transaction.commit()


def _rows(staged: Staged, step: Write) -> DataFrame:
    return staged.session.sql(f"SELECT {listed(step.columns)} FROM {quoted(step.relation)}")


def _touched_files(step: Patch, staged: Staged, stored: Stored) -> list[Action]:
    """The files that the patch takes rows from."""
    kept = staged.kept[step.relation]
    if kept.table is not None:
        names = set(kept.table.column(FILE).to_pylist()) - {None}
    else:
        distinct = f"SELECT DISTINCT {FILE} FROM {quoted(step.relation)} WHERE {FILE} IS NOT NULL"
        names = {row[0] for row in staged.session.sql(distinct).collect()}
    files = [file for file in stored.files if _name(file) in names]
    if len(files) != len(names):
        raise ValueError("a file of the view is unknown to its log, or known twice")
    return files


def _name(file: Action) -> str:
    return str(file["path"]).rpartition("/")[2]


def _stored(staged: Staged) -> DataFrame:
    """The view's table without its rows."""
    return stored_rows(staged.session, _require(staged.stored), ())


def _fitting(frame: DataFrame, stored: DataFrame) -> DataFrame:
    """The rows in the table's own types: a sum's type may be wider than what is stored."""
    from pyspark.sql.functions import col  # noqa: PLC0415

    types = {f.name: f.dataType for f in stored.schema.fields}
    shown = [
        col(quoted(f.name))
        if f.name == CHANGE or f.dataType == types[f.name]
        else col(quoted(f.name)).cast(types[f.name]).alias(f.name)
        for f in frame.schema.fields
    ]
    return frame.select(*shown)


def _parts(files: list[Action], session: SparkSession) -> int:
    """So few that files stay large, but not fewer than there are cores to write them."""
    size = sum(int(file.get("size") or 0) for file in files)
    rows = LiveFiles.of(files).statistics.rows or 0
    at_once = min(session.sparkContext.defaultParallelism, _MOST_TASKS)
    enough = max(size // _TASK_BYTES, rows // _TASK_ROWS)
    return max(1, math.ceil(size / _FILE_BYTES), min(at_once, enough))


def _require(stored: Stored | None) -> Stored:
    if stored is None:
        raise ValueError("the view has no table yet")
    return stored


def _replace(frame: DataFrame, target: Target) -> None:
    """A new table, or new columns for the old one, in one commit."""
    writer: Any = (
        frame.write.format("delta")
        .mode("overwrite")
        .option("overwriteSchema", "true")
        .option("txnAppId", TRANSACTION_APP)
        .option("txnVersion", target.stamp.sequence)
        .option("userMetadata", target.stamp.to_json())
    )
    for name, value in target.properties.items():
        writer = writer.option(name, value)
    if target.partitioned_by:
        writer = writer.partitionBy(*target.partitioned_by)
    if target.cluster_by and target.stamp.base < 0:
        writer = writer.clusterBy(*target.cluster_by)
    with commit_lock(target.path):
        writer.save(target.path)
    if target.stamp.base >= 0:
        _cluster_anew(frame.sparkSession, target)


def _cluster_anew(session: SparkSession, target: Target) -> None:
    """Delta's writer cannot change a table's clustering; without it the view is right all the same.

    A commit of its own that changes no row; if it is not reached, the next redefinition makes it.
    """
    columns = ", ".join(quoted(c) for c in target.cluster_by)
    by = f"({columns})" if columns else "NONE"
    with suppress(Exception):
        session.sql(f"ALTER TABLE delta.{quoted(target.path)} CLUSTER BY {by}")
