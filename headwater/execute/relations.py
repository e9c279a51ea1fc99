"""Make a relation once and keep it.

Spark would evaluate a temporary view again for every use. A small relation becomes a local one:
later steps then run without a job for it and know its exact size, so joins with it are broadcast. A
large one is checkpointed to the executors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

SMALL_ROWS = 100_000
_SMALL_BYTES = 16 * 2**20
"""What the driver may hold of one relation, as far as its types tell."""


@dataclass(frozen=True)
class Kept:
    """A relation that will not be evaluated again; its rows too, where they are few."""

    frame: DataFrame
    rows: int
    table: pa.Table | None = None


def keep(session: SparkSession, frame: DataFrame, *, may_be_small: bool) -> Kept:
    """The same rows, evaluated exactly once."""
    if may_be_small and _all_survive(frame):
        table = few_rows(frame)
        if table is not None:
            return local(session, table, frame.schema)
    kept = frame.localCheckpoint(eager=True)
    return Kept(kept, kept.count())


def few_rows(frame: DataFrame) -> pa.Table | None:
    """All rows, if they are so few that the driver can hold them."""
    width = sum(_width(field.dataType) for field in frame.schema.fields)
    most = min(SMALL_ROWS, _SMALL_BYTES // max(width, 1))
    table = frame.limit(most + 1).toArrow()
    return table if table.num_rows <= most else None


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
        return all(survives_arrow(field.dataType) for field in type_.fields)
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
