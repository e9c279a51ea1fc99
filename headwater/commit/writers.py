"""The one commit that changes a view, per kind of write."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from headwater.capture.actions import Action
from headwater.capture.state import LiveFiles
from headwater.commit.lock import commit_lock
from headwater.commit.losses import divided, file_name
from headwater.commit.target import Target
from headwater.commit.transaction import Transaction
from headwater.execute.reading import stored_rows
from headwater.execute.relations import is_sendable
from headwater.execute.staged import Staged, Stored
from headwater.execute.vectors import Positions
from headwater.plan.patch import coming, fed, patched, places
from headwater.plan.render import listed
from headwater.plan.sent import hinted
from headwater.plan.steps import Append, Overwrite, Patch, Renew, Write
from headwater.vocabulary.names import CHANGE, CHAR_NOTE, FILE, PLACE, TRANSACTION_APP, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructField

_TOUCHED = "__hw_touched_files"
_FILE_BYTES = 128 * 2**20
"""About how large the files of a view should be."""

_TASK_BYTES = 2**20
_TASK_ROWS = 50_000
_MOST_TASKS = 16
"""Files are written anew by several tasks, each into a file, if that leaves so much for each."""


@singledispatch
def write(step: Write, staged: Staged, target: Target) -> bool:
    """Carry out a write, if there is anything to write; the committer finds out if it landed."""
    raise TypeError(f"no writer for {type(step).__name__}")


@write.register
def _append(step: Append, staged: Staged, target: Target) -> bool:
    """Of rows that were not kept nobody knows before whether there are any."""
    transaction = Transaction(staged.session, target, staged.recorder)
    rows = _rows(staged, step)
    transaction.add(rows.coalesce(1) if step.relation in staged.kept else rows)
    if transaction.rows_added == 0:
        return False
    transaction.commit()
    return True


@write.register
def _patch(step: Patch, staged: Staged, target: Target) -> bool:
    """Rows that come, in new files, with those of the files that are written anew."""
    stored = _require(staged.stored)
    transaction = Transaction(staged.session, target, staged.recorder)
    losses = divided(stored.files, staged.census.gone, vectors=stored.vectors)
    if losses.marked and not stored.vectors:
        transaction.allow_vectors()
    content = coming(step.columns, step.relation)
    if losses.anew:
        kept = stored_rows(staged.session, stored, losses.anew)
        kept.createOrReplaceTempView(_TOUCHED)
        content = patched(step.columns, _TOUCHED, step.relation)
        content = hinted(content, lambda name: is_sendable(staged.kept[name]))
    if losses.any and stored.has_feed:
        stored_too = f"SELECT *, CAST(NULL AS STRING) AS {CHANGE} FROM ({content})"
        content = f"{stored_too} UNION ALL {fed(step.columns, step.relation)}"
    parts = _parts(losses.anew, staged.kept[step.relation].rows, staged.session)
    transaction.add(staged.session.sql(content).coalesce(parts))
    if losses.marked:
        going = _positions(step, staged)
        transaction.mark([(file, going[file_name(file)]) for file in losses.marked])
    transaction.remove((*losses.anew, *losses.emptied))
    transaction.commit()
    return True


@write.register
def _overwrite(step: Overwrite, staged: Staged, target: Target) -> bool:
    """The whole content; a table that gets other columns or none yet is left to Delta."""
    if staged.stored is None or target.reshapes:
        with staged.recorder.part("files", staged.session):
            _replace(_rows(staged, step), target)
        return True
    return _put_in_place(step, staged, target)


@write.register
def _renew(step: Renew, staged: Staged, target: Target) -> bool:
    return _put_in_place(step, staged, target)


def _put_in_place(step: Write, staged: Staged, target: Target) -> bool:
    transaction = Transaction(staged.session, target, staged.recorder)
    transaction.add(_rows(staged, step))
    transaction.remove(_require(staged.stored).files)
    transaction.commit()
    return True


def _rows(staged: Staged, step: Write) -> DataFrame:
    return staged.session.sql(f"SELECT {listed(step.columns)} FROM {quoted(step.relation)}")


def _positions(step: Patch, staged: Staged) -> dict[str, Positions]:
    """Which rows the patch takes out, by file."""
    table = staged.kept[step.relation].table
    if table is None:
        gathered = staged.session.sql(places(step.relation)).toArrow()
    else:
        rows = table.filter(table.column(FILE).is_valid()).select([FILE, PLACE])
        gathered = rows.group_by(FILE).aggregate([(PLACE, "list")])
    names, positions = gathered.column(FILE), gathered.column(1)
    return dict(zip(names.to_pylist(), positions.to_pylist(), strict=True))


def _parts(files: Sequence[Action], patched_rows: int, session: SparkSession) -> int:
    """So few that files stay large, but not fewer than there are cores to write them."""
    size = sum(int(file.get("size") or 0) for file in files)
    rows = patched_rows + (LiveFiles.of(files).statistics.rows or 0)
    at_once = min(session.sparkContext.defaultParallelism, _MOST_TASKS)
    enough = max(size // _TASK_BYTES, rows // _TASK_ROWS)
    return max(1, math.ceil(size / _FILE_BYTES), min(at_once, enough))


def _require(stored: Stored | None) -> Stored:
    if stored is None:
        raise ValueError("the view has no table yet")
    return stored


def _replace(frame: DataFrame, target: Target) -> None:
    """A new table, or new columns for the old one, in one commit."""
    frame = _noted(frame, chars=not target.plain_text)
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


def _noted(frame: DataFrame, *, chars: bool) -> DataFrame:
    """Without the notes that texts are of type VARCHAR, which would limit what a view shows.

    Nor, unless `chars`, of type CHAR: what is read would be padded.
    """
    from pyspark.sql.functions import col  # noqa: PLC0415  (pyspark loads where Spark runs)

    def is_plain(field: StructField) -> bool:
        note = str((field.metadata or {}).get(CHAR_NOTE) or "")
        return bool(note) and not (chars and note.startswith("char("))

    if not any(map(is_plain, frame.schema)):
        return frame
    shown = (
        col(quoted(f.name)).alias(f.name, metadata={}) if is_plain(f) else col(quoted(f.name))
        for f in frame.schema
    )
    return frame.select(*shown)


def _cluster_anew(session: SparkSession, target: Target) -> None:
    """Delta's writer cannot change a table's clustering; without it the view is right all the same.

    A commit of its own that changes no row; if it is not reached, the next redefinition makes it.
    """
    columns = ", ".join(quoted(c) for c in target.cluster_by)
    by = f"({columns})" if columns else "NONE"
    with suppress(Exception), commit_lock(target.path):
        session.sql(f"ALTER TABLE delta.{quoted(target.path)} CLUSTER BY {by}")
