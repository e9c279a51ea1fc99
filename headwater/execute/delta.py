"""Delta's own log object, driven from Python.

Delta's public calls rebuild a table's state by Spark jobs after every commit, though its files are
known from the log. What is used here instead, each thing in one function: reading given files as a
relation, and a transaction that takes files out and puts files in. See decision 0009.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from headwater.capture.actions import Action
from headwater.capture.log import open_log
from headwater.execute.jvm import java, module, nothing, some
from headwater.vocabulary.names import CHANGE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DELTA = "org.apache.spark.sql.delta"

_AS_ADDED = {"modificationTime": 0, "dataChange": True}
"""What an added file's entry has, and another one's may not."""


def delta_log(session: SparkSession, path: str) -> Any:
    """The log object of the table at a path; Delta keeps one per table and process."""
    return java(session, f"{DELTA}.DeltaLog").forTable(session._jsparkSession, path)  # noqa: SLF001


def files_frame(
    session: SparkSession,
    path: str,
    version: int,
    adds: Sequence[Action],
    *,
    with_places: bool = False,
    with_kinds: bool = False,
) -> DataFrame:
    """The rows of some files of a table, read as that version of the table reads them.

    What Delta must know of the table stands in its log; Delta's own state of it is not asked for.
    `with_places`: `_metadata` tells each row's number within its file (`row_index`).
    `with_kinds`: they are files of the change feed, which tell what became of each row.
    """
    from pyspark.sql import DataFrame as Frame  # noqa: PLC0415

    log, absent, header = delta_log(session, path), nothing(session), open_log(path).header(version)
    schema = _with_kinds(header.metadata.schema_text) if with_kinds else header.metadata.schema_text
    metadata = action_object(
        session, "metaData", header.metadata.action() | {"schemaString": schema}
    )
    protocol = action_object(session, "protocol", header.protocol.action())
    protocol = _telling_places(session, protocol) if with_places else protocol
    shown = java(session, f"{DELTA}.DummySnapshot")
    snapshot = shown(log.logPath(), log, metadata, absent, some(session, protocol))
    added = ({**_AS_ADDED, **add} for add in adds)
    files = sequence(session, (action_object(session, "add", add) for add in added))
    with active(session):
        frame = log.createDataFrame(snapshot, files, False, absent)  # noqa: FBT003
    return Frame(frame, session)


def _telling_places(session: SparkSession, protocol: Any) -> Any:
    """Delta hides rows' numbers in tables without deletion vectors; to a reader it makes none."""
    feature = ["deletionVectors"]
    minimal = {"minReaderVersion": 3, "minWriterVersion": 7}
    features = {"readerFeatures": feature, "writerFeatures": feature}
    marking = action_object(session, "protocol", minimal | features)
    return marking.merge(sequence(session, [protocol]))


def _with_kinds(schema_text: str) -> str:
    """One column more, which only the files of the change feed have."""
    schema = json.loads(schema_text)
    kind = {"name": CHANGE, "type": "string", "nullable": True, "metadata": {}}
    return json.dumps(schema | {"fields": [*schema["fields"], kind]})


@contextmanager
def active(session: SparkSession) -> Iterator[None]:
    """Make a session the thread's own: what Delta makes belongs to that one."""
    sessions = module(session, "org.apache.spark.sql.classic.SparkSession$")
    before = sessions.getActiveSession()
    sessions.setActiveSession(session._jsparkSession)  # noqa: SLF001
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


def action_object(session: SparkSession, kind: str, action: Action) -> Any:
    """A line of a commit as Delta's own object."""
    return module(session, f"{DELTA}.actions.Action$").fromJson(json.dumps({kind: action}))


def sequence(session: SparkSession, items: Iterable[Any]) -> Any:
    """A Scala sequence."""
    buffer = java(session, "scala.collection.mutable.ArrayBuffer")()
    for item in items:
        buffer.append(item)
    return buffer.toSeq()
