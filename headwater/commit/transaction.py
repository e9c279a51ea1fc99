"""One Delta transaction: files in, files out, the stamp, and the fence.

Delta's own writer lays the files out, checks the table's features and arbitrates between commits.
The fence is the version: a transaction that does not start from the version the refresh started
from is given up, and one that meets another commit on its way fails, because it says that it has
read the whole table.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headwater.capture.actions import Action
from headwater.commit.lock import commit_lock
from headwater.commit.target import Target
from headwater.execute.delta import (
    DELTA,
    action_object,
    active,
    delta_log,
    sequence,
)
from headwater.execute.jvm import java, java_class, nothing, some
from headwater.execute.recorder import Recorder
from headwater.execute.vectors import Positions, without_rows
from headwater.vocabulary.errors import RefreshFenced
from headwater.vocabulary.names import CHANGE, TRANSACTION_APP, quoted
from headwater.vocabulary.stamp import Stamp

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Transaction:
    """A commit in the making; nothing of it is seen before `commit`."""

    def __init__(self, session: SparkSession, target: Target, recorder: Recorder) -> None:
        self._session = session
        self._target = target
        self._recorder = recorder
        absent = nothing(session)
        with recorder.part("begin", session), active(session):
            self._delta = delta_log(session, target.path).startTransaction(absent, absent)
        self._actions: list[Any] = []
        self._written: list[int | None] = []  # rows of the new files
        found = int(self._delta.snapshot().version())
        if found != target.stamp.base:
            raise RefreshFenced(
                f"the table of {target.stamp.view} moved from version {target.stamp.base} "
                f"to {found} while it was being refreshed"
            )

    def add(self, frame: DataFrame) -> None:
        """Write rows to new files; those with a change type go to the change feed alone."""
        with self._recorder.part("files", self._session), active(self._session):
            written = self._delta.writeFiles(self._fitting(frame)._jdf)  # noqa: SLF001
        files = [written.apply(n) for n in range(written.size())]
        self._written += [_rows_of(file) for file in files]
        self._actions += files

    @property
    def rows_added(self) -> int | None:
        """The rows of all new files, as far as their statistics tell."""
        known = [rows for rows in self._written if rows is not None]
        return sum(known) if len(known) == len(self._written) else None

    def _fitting(self, frame: DataFrame) -> DataFrame:
        """The rows in the table's own types: a sum's type may be wider than what is stored."""
        from pyspark.sql.functions import col  # noqa: PLC0415  (pyspark loads where Spark runs)
        from pyspark.sql.types import StructType  # noqa: PLC0415

        stored = StructType.fromJson(json.loads(self._delta.metadata().schema().json()))
        types = {field.name: field.dataType for field in stored.fields}
        if all(f.name == CHANGE or f.dataType == types[f.name] for f in frame.schema.fields):
            return frame
        shown = [
            col(quoted(f.name))
            if f.name == CHANGE or f.dataType == types[f.name]
            else col(quoted(f.name)).cast(types[f.name]).alias(f.name)
            for f in frame.schema.fields
        ]
        return frame.select(*shown)

    def allow_vectors(self) -> None:
        """From this commit on, rows of the table may be marked as deleted."""
        told = json.loads(self._delta.snapshot().metadata().json())["metaData"]
        told["configuration"]["delta.enableDeletionVectors"] = "true"
        self._delta.updateMetadata(action_object(self._session, "metaData", told), False)  # noqa: FBT003

    def mark(self, losses: Sequence[tuple[Action, Positions]]) -> None:
        """Leave files in the table, without some of their rows."""
        with self._recorder.part("vectors", self._session):
            marked = [(action_object(self._session, "add", file), rows) for file, rows in losses]
            for pair in without_rows(self._session, self._target.path, marked):
                self._actions += pair

    def remove(self, files: Sequence[Action]) -> None:
        """Take files out of the table."""
        now = _now()
        for file in files:
            added = action_object(self._session, "add", file)
            self._actions.append(added.removeWithTimestamp(now, True))  # noqa: FBT003

    def commit(self) -> None:
        """All or nothing, as the version after the one it started from."""
        stamp = self._stamp()
        fence = {"appId": TRANSACTION_APP, "version": stamp.sequence, "lastUpdated": _now()}
        self._actions.append(action_object(self._session, "txn", fence))
        self._delta.readWholeTable()
        actions = sequence(self._session, self._actions)
        entry = self._recorder.part("log entry", self._session)
        with entry, commit_lock(self._target.path), active(self._session):
            self._delta.commit(actions, self._operation(stamp))

    def _stamp(self) -> Stamp:
        """With the number of rows, where only what was written tells it."""
        stamp = self._target.stamp
        if stamp.inserted is not None or self.rows_added is None:
            return stamp
        return replace(stamp, inserted=self.rows_added)

    def _operation(self, stamp: Stamp) -> Any:
        """Delta's word for the commit, with our stamp as its user's words."""
        session, absent = self._session, nothing(self._session)
        told = some(session, stamp.to_json())
        mode = java(session, "org.apache.spark.sql.SaveMode").valueOf("Append")
        write = java_class(session, f"{DELTA}.DeltaOperations$Write").getConstructors()[0]
        rest = [absent] * (write.getParameterCount() - 4)
        values = [mode, absent, absent, told, *rest]
        gateway: Any = session.sparkContext._gateway  # noqa: SLF001
        arguments = gateway.new_array(java(session, "java.lang.Object"), len(values))
        for at, value in enumerate(values):
            arguments[at] = value
        return write.newInstance(arguments)


def _rows_of(file: Any) -> int | None:
    """Of a change file nobody counts the rows."""
    if file.getClass().getSimpleName() != "AddFile":
        return 0
    rows = file.numLogicalRecords()
    return int(rows.get()) if rows.isDefined() else None


def _now() -> int:
    return int(time.time() * 1000)
