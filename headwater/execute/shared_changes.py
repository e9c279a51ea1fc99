"""One read of a change for all views of a refresh that need it.

The views of a graph that read one source mostly follow the same window of it. Whoever comes first
reads the signed rows with the columns that any of them may want; the others wait and get the same
rows in their own session. Netting over its own columns is left to each view. Only few rows are
shared, as they are held until the whole refresh ends; of more, each view reads its own columns.

What a refresh itself wrote into a view is known without reading it: it is told as it was staged.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.execute.relations import Kept, few_rows, local, survives_arrow
from headwater.vocabulary.names import CHANGE, GOING, WEIGHT, quoted

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from headwater.plan.steps import ReadChanges
    from headwater.plan.stored import StoredTable
    from headwater.plan.view import Columns

Key = tuple[str, int, int, bool]
Choose = Callable[[Sequence[str]], list[str]]
"""Of the columns that are there, those to read."""

_STAR = re.compile(r"(?:\bselect(?:\s+(?:all|distinct))?|[,.])\s*\*")

Read = Callable[["SparkSession", "StoredTable", "ReadChanges", Choose], "DataFrame"]


@dataclass(frozen=True)
class _Rows:
    """Signed rows, not netted, in no session."""

    table: pa.Table
    schema: StructType


class SharedChanges:
    """The changes that one refresh of a graph has read; safe to ask from many threads."""

    def __init__(self, readers: Mapping[str, Iterable[str]]) -> None:
        self._readers = {source: tuple(queries) for source, queries in readers.items()}
        self._lock = threading.Lock()
        self._reads: dict[Key, Future[_Rows | None]] = {}

    def rows(
        self, session: SparkSession, table: StoredTable, step: ReadChanges, read_feed: Read
    ) -> Kept | None:
        """The step's signed rows, not netted; None where the view has to read them itself."""
        key = (table.path, step.after, step.up_to, step.inserts_only)
        is_shared = len(self._readers.get(step.source, ())) > 1
        with self._lock:
            is_first = key not in self._reads
            if not step.has_feed or (is_first and not is_shared):
                return None
            read = self._reads.setdefault(key, Future())
        if is_first:
            self._fulfil(read, lambda: read_feed(session, table, step, self._choice(step, table)))
        return _local(session, read.result(), step.columns)

    def tell(
        self, source: str, table: StoredTable, version: int, columns: Columns, patch: Kept
    ) -> None:
        """What a commit changed in a view, from whoever made it; columns as its readers see them.

        A change that only adds rows may be asked for as such.
        """
        if source not in self._readers or patch.table is None:
            return
        rows, only_adds = _signed(patch.table, patch.frame.schema, table, columns)
        for inserts_only in (False, True) if only_adds else (False,):
            known: Future[_Rows | None] = Future()
            known.set_result(rows)
            with self._lock:
                self._reads.setdefault((table.path, version - 1, version, inserts_only), known)

    def _fulfil(self, read: Future[_Rows | None], feed: Callable[[], DataFrame]) -> None:
        """Where it fails, each view tries for itself, and fails by its own name if it must."""
        rows = None
        try:
            with suppress(Exception):
                rows = _collected(feed())
        finally:
            read.set_result(rows)

    def _choice(self, step: ReadChanges, table: StoredTable) -> Choose:
        """What this view reads, and all that another one's text speaks of."""
        text = " ".join(self._readers[step.source]).lower()
        said, all_of_them = set(re.findall(r"\w+", text)), _STAR.search(text) is not None
        known = {name.lower() for name in (*step.columns, *table.names.values())}

        def chosen(there: Sequence[str]) -> list[str]:
            others = [n for n in there if n.lower() not in known and not n.startswith("_")]
            return [*step.columns, *(n for n in others if all_of_them or n.lower() in said)]

        return chosen


def _collected(frame: DataFrame) -> _Rows | None:
    plain = [field.name for field in frame.schema.fields if survives_arrow(field.dataType)]
    frame = frame.select(*(quoted(name) for name in plain))
    table = few_rows(frame)
    return None if table is None else _Rows(table, frame.schema)


def _signed(
    patch: pa.Table, schema: StructType, table: StoredTable, columns: Columns
) -> tuple[_Rows, bool]:
    """A patch as signed rows, and whether they all come; without columns stored as another type."""
    import pyarrow as pa  # noqa: PLC0415  (both load only where Spark runs)
    import pyarrow.compute as pc  # noqa: PLC0415
    from pyspark.sql.types import LongType, StructField, StructType  # noqa: PLC0415

    goes = pc.is_in(patch[CHANGE], value_set=pa.array(GOING))
    values, fields = [], []
    for name, type_ in columns:
        field = schema[table.names.get(name, name)]
        if field.dataType.simpleString() == type_:
            values.append(patch[field.name])
            fields.append(StructField(name, field.dataType))
    values.append(pc.if_else(goes, pa.scalar(-1, pa.int64()), pa.scalar(1, pa.int64())))
    fields.append(StructField(WEIGHT, LongType()))
    signed = pa.table(values, names=[field.name for field in fields])
    return _Rows(signed, StructType(fields)), not pc.any(goes).as_py()


def _local(session: SparkSession, rows: _Rows | None, columns: tuple[str, ...]) -> Kept | None:
    if rows is None or not set(columns) <= set(rows.schema.names):
        return None
    from pyspark.sql.types import StructType  # noqa: PLC0415  (loads only where Spark runs)

    names = [*columns, WEIGHT]
    schema = StructType([rows.schema[name] for name in names])
    return local(session, rows.table.select(names), schema)
