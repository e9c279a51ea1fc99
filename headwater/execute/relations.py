"""Make a relation once and keep it.

Spark would evaluate a temporary view again for every use. A small relation becomes a local one:
later steps then run without a job for it and know its exact size, so joins with it are broadcast. A
large one is checkpointed to the executors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.execute.checkpoint import checkpointed, release

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

SMALL_ROWS = 100_000
_SMALL_BYTES = 16 * 2**20
"""What the driver may hold of one relation, as far as its types tell."""

_SENT_BYTES = 128 * 2**20
"""A change of no more is sent to a view's rows; its whole table is not moved to meet it."""


@dataclass(frozen=True)
class Kept:
    """A relation that will not be evaluated again; its rows too, where they are few."""

    frame: DataFrame
    rows: int
    table: pa.Table | None = None

    def release(self) -> None:
        """Nobody will read it any more."""
        if self.table is None:
            release(self.frame)


def keep(session: SparkSession, frame: DataFrame, *, may_be_small: bool) -> Kept:
    """The same rows, evaluated exactly once."""
    if may_be_small and _all_survive(frame):
        table = few_rows(frame)
        if table is not None:
            return local(session, table, frame.schema)
    kept = checkpointed(session, frame)
    return Kept(kept, kept.count())


def gathered(session: SparkSession, kept: Kept) -> Kept:
    """The same, as a local relation if a checkpointed one has turned out to be small."""
    frame = kept.frame
    if kept.table is not None or kept.rows > most_rows(frame) or not _all_survive(frame):
        return kept
    rows = frame.toArrow()
    kept.release()
    return local(session, rows, frame.schema)


def is_sendable(kept: Kept) -> bool:
    """Whether it is small enough to be sent to where others' rows are."""
    return kept.rows * _row_width(kept.frame) <= _SENT_BYTES


def few_rows(frame: DataFrame) -> pa.Table | None:
    """All rows, if they are so few that the driver can hold them."""
    most = most_rows(frame)
    table = frame.limit(most + 1).toArrow()
    return table if table.num_rows <= most else None


def most_rows(frame: DataFrame) -> int:
    """So many of a relation's rows, going by their types, are few."""
    return min(SMALL_ROWS, _SMALL_BYTES // max(_row_width(frame), 1))


def _row_width(frame: DataFrame) -> int:
    return sum(_width(field.dataType) for field in frame.schema.fields)


def _width(type_: DataType) -> int:
    """Bytes of a value, guessed: what has no fixed length is taken for a sentence."""
    from pyspark.sql import types  # noqa: PLC0415

    if isinstance(type_, types.StructType):
        return sum(_width(field.dataType) for field in type_.fields)
    if isinstance(type_, (types.StringType, types.BinaryType)):
        return 64
    return 512 if isinstance(type_, types.ArrayType) else 16


def local(session: SparkSession, table: pa.Table, schema: StructType) -> Kept:
    """A few rows, in one partition: they are grouped and joined without an exchange."""
    frame = session.createDataFrame(table, schema=schema).coalesce(1)
    return Kept(frame, table.num_rows, table)


def _all_survive(frame: DataFrame) -> bool:
    return all(survives_arrow(field.dataType) for field in frame.schema.fields)


def survives_arrow(type_: DataType) -> bool:
    """Types that come back from Arrow exactly as they went."""
    from pyspark.sql import types  # noqa: PLC0415  (pyspark loads only where Spark runs)

    if isinstance(type_, types.StringType):
        return type(type_) is types.StringType and type_.collation == "UTF8_BINARY"
    if isinstance(type_, types.ArrayType):
        return survives_arrow(type_.elementType)
    if isinstance(type_, types.StructType):
        names = set(type_.fieldNames())  # Arrow refuses fields of one name
        return len(names) == len(type_) and all(survives_arrow(f.dataType) for f in type_.fields)
    plain = (
        types.BooleanType,
        types.ByteType,
        types.ShortType,
        types.IntegerType,
        types.LongType,
        types.FloatType,
        types.DoubleType,
        types.DecimalType,
        types.DateType,
        types.TimestampType,
        types.TimestampNTZType,
        types.BinaryType,
    )
    return type(type_) in plain
