"""Rows that differ in more than the last digits of sums of floating-point numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.vocabulary.names import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

CLOSE = 1e-9
"""Relative: far above what another order of addition does, far below what a changed row does."""

_TINY = 1e-12
"""Absolute: where large numbers cancel out, nothing is left to be relative to."""

_CLOSE_FLOATS, _TINY_FLOATS = 1e-5, 1e-6
"""Likewise of numbers of 32 bits, as vectors are made of."""

_ROWS, _PLACE = "__hw_verify_differing", "__hw_place"


def beyond_rounding(
    differing: DataFrame, rounded: tuple[str, ...], expected: str, found: str
) -> DataFrame:
    """Of rows with their copies on both sides, those without a close row on the other side.

    Rows that are equal in all other columns are paired in the order of the rounded ones.
    """
    session = differing.sparkSession
    differing.createOrReplaceTempView(_ROWS)
    others = [c for c in differing.columns if c not in {*rounded, expected, found}]
    same = " AND ".join(
        [f"e.{quoted(c)} <=> f.{quoted(c)}" for c in others] + [f"e.{_PLACE} = f.{_PLACE}"]
    )
    types = {field.name: field.dataType for field in differing.schema.fields}
    close = " AND ".join(_close(f"e.{quoted(c)}", f"f.{quoted(c)}", types[c]) for c in rounded)
    sides = {
        side: _placed(f"{side} - {other}", others, rounded)
        for side, other in ((expected, found), (found, expected))
    }
    shown = ", ".join(quoted(c) for c in (*others, *rounded))

    def alone(side: str, other: str, counts: str) -> str:
        return (
            f"SELECT {shown}, {counts} FROM ({sides[side]}) e LEFT ANTI JOIN ({sides[other]}) f "
            f"ON {same} AND {close}"
        )

    missing = alone(expected, found, f"1L AS {expected}, 0L AS {found}")
    extra = alone(found, expected, f"0L AS {expected}, 1L AS {found}")
    return session.sql(f"{missing} UNION ALL {extra}").select(*differing.columns)


def _placed(surplus: str, others: list[str], rounded: tuple[str, ...]) -> str:
    """Each copy that one side has more, numbered among those that are equal but for rounding."""
    shown = ", ".join(quoted(c) for c in (*others, *rounded))
    partition = ", ".join(quoted(c) for c in others) or "1"
    order = ", ".join(quoted(c) for c in rounded)
    return (
        f"SELECT {shown}, row_number() OVER (PARTITION BY {partition} ORDER BY {order}) "
        f"AS {_PLACE} FROM {_ROWS} LATERAL VIEW explode(sequence(1, CAST({surplus} AS INT))) n "
        f"AS __hw_copy WHERE {surplus} > 0"
    )


def _close(one: str, other: str, type_: DataType, depth: int = 0) -> str:
    """A condition on two values; rows and lists are close if all that is in them is."""
    from pyspark.sql import types  # noqa: PLC0415  (loads only where Spark runs)

    if isinstance(type_, types.ArrayType):
        x, y = f"x{depth}", f"y{depth}"
        inner = _close(x, y, type_.elementType, depth + 1)
        pairs = f"zip_with({one}, {other}, ({x}, {y}) -> {inner})"
        alike = f"size({one}) = size({other}) AND forall({pairs}, is_close -> is_close)"
    elif isinstance(type_, types.StructType):
        fields = [(quoted(field.name), field.dataType) for field in type_.fields]
        alike = " AND ".join(_close(f"{one}.{n}", f"{other}.{n}", t, depth) for n, t in fields)
    elif isinstance(type_, (types.DoubleType, types.FloatType)):
        left, right = f"CAST({one} AS DOUBLE)", f"CAST({other} AS DOUBLE)"
        is_short = isinstance(type_, types.FloatType)
        tiny, close = (_TINY_FLOATS, _CLOSE_FLOATS) if is_short else (_TINY, CLOSE)
        allowed = f"greatest({tiny}D, {close}D * greatest(abs({left}), abs({right})))"
        alike = f"abs({left} - {right}) <= {allowed}"
    else:
        return f"({one} <=> {other})"
    return f"({one} <=> {other} OR coalesce({alike}, false))"
