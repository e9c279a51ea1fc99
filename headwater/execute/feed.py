"""What a table's log has of a window of versions, row by row.

A commit that names change files is told by those alone, any other one by the files that came and
went. To read them takes a scan or two. Delta's own reader of the feed also tells each row's version
and time, and takes longer to plan than a small change to read; it is asked where rows of a file
count only in part, or columns have other names in the files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.capture.actions import Action
from headwater.capture.log import TableLog, open_log
from headwater.execute.delta import files_frame
from headwater.plan.steps import ReadChanges
from headwater.plan.stored import StoredTable
from headwater.vocabulary.names import CHANGE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WEIGHT = f"CASE WHEN {CHANGE} IN ('insert', 'update_postimage') THEN 1 ELSE -1 END"


@dataclass
class _Files:
    """The files that tell a window's changes."""

    told: list[Action] = field(default_factory=list)  # rows with a change type
    came: list[Action] = field(default_factory=list)
    went: list[Action] = field(default_factory=list)


def feed_rows(
    session: SparkSession, table: StoredTable, step: ReadChanges
) -> tuple[DataFrame, str]:
    """The rows of (after, up_to], and the SQL of a row's weight."""
    log = open_log(table.path)
    if step.inserts_only:
        return files_frame(session, table.path, step.up_to, _added(log, step)), "1"
    files = _files(log, step)
    if files is None:
        return _feed(session, table, step), _WEIGHT
    frames = [files_frame(session, table.path, step.up_to, files.told, with_kinds=True)]
    for kind, some in (("insert", files.came), ("delete", files.went)):
        if some:
            frame = files_frame(session, table.path, step.up_to, some)
            frames.append(frame.selectExpr("*", f"'{kind}' AS {CHANGE}"))
    frames = frames if files.told else frames[1:] or frames
    first, *others = frames
    for other in others:
        first = first.union(other)
    return first, _WEIGHT


def _added(log: TableLog, step: ReadChanges) -> list[Action]:
    """Rows only came: they are those of the files that were added, one scan for all commits."""
    versions = range(step.after + 1, step.up_to + 1)
    return [a for v in versions for kind, a in _changing(log, v) if kind == "add"]


def _files(log: TableLog, step: ReadChanges) -> _Files | None:
    """None where Delta has to be asked."""
    if log.metadata(step.up_to).mapping_mode != "none":
        return None
    files = _Files()
    for version in range(step.after + 1, step.up_to + 1):
        actions = list(_changing(log, version))
        told = [action for kind, action in actions if kind == "cdc"]
        files.told += told
        if told:
            continue
        if any(not _is_whole(action) for _, action in actions):
            return None
        files.came += [action for kind, action in actions if kind == "add"]
        files.went += [action for kind, action in actions if kind == "remove"]
    return files


def _changing(log: TableLog, version: int) -> Iterable[tuple[str, Action]]:
    for kind, action in log.actions(version):
        if kind == "cdc" or (kind in {"add", "remove"} and action.get("dataChange", True)):
            yield kind, action


def _is_whole(action: Action) -> bool:
    """All rows of the file count, and the entry says all that it takes to read them."""
    return action.get("deletionVector") is None and {"partitionValues", "size"} <= action.keys()


def _feed(session: SparkSession, table: StoredTable, step: ReadChanges) -> DataFrame:
    reader = session.read.format("delta").option("readChangeFeed", "true")
    window = reader.option("startingVersion", step.after + 1).option("endingVersion", step.up_to)
    return window.load(table.path)
