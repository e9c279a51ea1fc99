"""Ranges that hold all values of a relation, as a condition with literals."""

from __future__ import annotations

import datetime as dt
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException

from headwater.execute.relations import SMALL_ROWS, Kept
from headwater.plan.within import Bound, filled, marked
from headwater.vocabulary.names import quoted

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

_MOST_RANGES = 16
"""Enough for keys in a few clusters; more would cost more to plan than they save."""

_NARROW = 2 * _MOST_RANGES
"""A gap of less than this part of all that the values span is read with the rest."""

_MANY = 20_000
"""Of more values only the least and the greatest are looked for."""

_GRAIN_BITS = 4
"""A range may grow by the 16th part of it at either end."""

_DIGITS = 38
_LARGEST = Decimal(10**_DIGITS - 1)
"""Of a decimal's literal."""

_ANYTHING = "TRUE"

_SHIFTED = dt.timedelta(days=1)
"""Where clocks are put forward, local times and instants are not in one order."""


class Bounds:
    """Fills in what is known of the relations that were made so far."""

    def __init__(
        self, session: SparkSession, kept: Mapping[str, Kept], unbounded: Container[str] = ()
    ) -> None:
        self._session = session
        self._kept = kept
        self._unbounded = unbounded  # what is so small that it is read whole
        self._known: dict[tuple[str, str], Span | None] = {}

    def fill(self, sql: str) -> str:
        self._ask(bound for bound in marked(sql) if bound.rows not in self._unbounded)
        return filled(sql, self._condition)

    def _condition(self, bound: Bound) -> str:
        if bound.rows in self._unbounded:
            return _ANYTHING
        span = self._known[bound.relation, bound.value]
        if not bound.upper:
            return _ANYTHING if span is None else _unless_text(bound.key, span.condition(bound.key))
        upper = self._known[bound.relation, bound.upper]
        return _between(bound.key, span, upper) if span and upper else _ANYTHING

    def _ask(self, bounds: Iterable[Bound]) -> None:
        """None where the asking is not worth it, or where order means nothing."""
        large: dict[str, list[str]] = {}
        asked = [(b.relation, end) for b in bounds for end in (b.value, b.upper) if end]
        for relation, value in dict.fromkeys(asked):
            if (relation, value) in self._known:
                continue
            kept = self._kept.get(relation)
            if kept is not None and kept.table is None:
                large.setdefault(relation, []).append(value)
            else:
                self._known[relation, value] = self._span(relation, value, kept)
        for relation, values in large.items():
            self._ends(relation, values)

    def _span(self, relation: str, value: str, kept: Kept | None) -> Span | None:
        if kept is None:
            all_small = all(each.table is not None for each in self._kept.values())
            return self._read(relation, value) if all_small else None
        name = value[1:-1].replace("``", "`")
        if kept.table is not None and name in kept.table.column_names:
            return span_of(kept.table.column(name))
        return self._read(relation, value)

    def _read(self, relation: str, value: str) -> Span | None:
        read = f"SELECT {value} AS v FROM {quoted(relation)} LIMIT {SMALL_ROWS + 1}"
        rows = self._session.sql(read)
        if not _is_ordered(rows.schema[0].dataType):
            return None
        with suppress(PySparkException):  # of rows that the query leaves out it may have no value
            found = rows.toArrow().column(0)
            return span_of(found) if len(found) <= SMALL_ROWS else None
        return None

    def _ends(self, relation: str, values: Sequence[str]) -> None:
        """Of many values only the least and the greatest are asked for, of all at once."""
        self._known.update({(relation, value): None for value in values})
        shown = ", ".join(f"{value} AS v{n}" for n, value in enumerate(values))
        rows = self._session.sql(f"SELECT {shown} FROM {quoted(relation)}")
        ordered = [n for n, field in enumerate(rows.schema) if _is_ordered(field.dataType)]
        if not ordered:
            return
        ends = (
            f"array(min(v{n}), max(v{n}), if(count(*) > count(v{n}), NULL, max(v{n})))"
            for n in ordered
        )
        with suppress(PySparkException):
            found = rows.selectExpr(*ends).toArrow()
            for n, column in zip(ordered, found.columns, strict=True):
                three = column.combine_chunks().flatten()
                self._known[relation, values[n]] = span_of(three, most=1)


def _is_ordered(type_: DataType) -> bool:
    """Likewise of Spark's types."""
    from pyspark.sql import types  # noqa: PLC0415  (only where Spark runs)

    plain = types.IntegralType, types.DateType, types.TimestampType, types.TimestampNTZType
    return isinstance(type_, (*plain, types.DecimalType))


def _unless_text(key: str, condition: str) -> str:
    """A text that is compared with a number is no number in rows that the query leaves out.

    Spark knows the type when it plans, and nothing is left of the question.
    """
    return f"if(startswith(typeof({key}), 'string'), TRUE, {condition})"


def _between(key: str, low: Span, high: Span) -> str:
    """From the least to the greatest, and any key at all beyond an end that is open."""
    parts = []
    if low.ranges and not low.has_null:
        parts.append(f"{key} >= {_literal(_wider(*low.ranges[0])[0])}")
    if high.ranges and not high.has_null:
        parts.append(f"{key} <= {_literal(_wider(*high.ranges[-1])[1])}")
    if not parts:
        return _ANYTHING
    beside = f" OR {key} IS NULL" if len(parts) == 1 else ""
    return f"({' AND '.join(parts)}{beside})"


@dataclass(frozen=True)
class Span:
    """Where values lie: in these ranges, and at NULL."""

    ranges: tuple[tuple[Any, Any], ...]
    has_null: bool

    def condition(self, key: str) -> str:
        """True for every row whose key is among the values."""
        parts = [
            f"{key} BETWEEN {_literal(low)} AND {_literal(high)}"
            for low, high in (_wider(*ends) for ends in self.ranges)
        ]
        parts += [f"{key} IS NULL"] if self.has_null else []
        return f"({' OR '.join(parts)})" if parts else "FALSE"


def span_of(column: pa.Array | pa.ChunkedArray, most: int = _MOST_RANGES) -> Span | None:
    """Where the values of a type lie whose order no conversion turns round.

    Text is left out: set equal to a number or a date it is converted, and then ordered otherwise.
    """
    import pyarrow.types as of  # noqa: PLC0415  (only where Spark runs)
    from pyarrow import compute  # noqa: PLC0415

    kind = column.type
    plain = of.is_integer(kind) or of.is_date(kind) or of.is_timestamp(kind)
    if not plain and not of.is_decimal(kind):
        return None
    distinct, has_null = compute.unique(column), column.null_count > 0
    if len(distinct) > _MANY:
        ends, most = compute.min_max(distinct), 1
        distinct = [ends["min"], ends["max"]]
    try:
        values = {value.as_py() for value in distinct}
    except (ValueError, OverflowError):  # Spark knows dates that Python does not
        return None
    return Span(tuple(ranges(sorted(values - {None}), most)), has_null)


def ranges(values: list[Any], most: int = _MOST_RANGES) -> list[tuple[Any, Any]]:
    """At most so many ranges that hold all of the sorted values, the widest gaps left out.

    Narrow gaps are not: every range is compared with every row that is read.
    """
    gaps = sorted(((b - a, at) for at, (a, b) in enumerate(pairwise(values), 1)), reverse=True)
    wide = [at for gap, at in gaps[: most - 1] if gap * _NARROW > values[-1] - values[0]]
    cuts = sorted(wide)
    starts, ends = [0, *cuts], [*cuts, len(values)]
    return [(values[a], values[b - 1]) for a, b in zip(starts, ends, strict=True) if a < b]


def _wider(low: Any, high: Any) -> tuple[Any, Any]:
    """Ends beyond which nothing is set equal to a value."""
    if isinstance(low, int):
        return rounded(low - 1, high + 1)  # set equal to a decimal that is rounded
    if isinstance(low, dt.datetime) and low.tzinfo is None:
        return _moved(low, -_SHIFTED), _moved(high, _SHIFTED)
    return apart(low, high) if isinstance(low, Decimal) else (low, high)


def _moved(at: dt.datetime, by: dt.timedelta) -> dt.datetime:
    """At the ends of time it stays where it is."""
    try:
        return at + by
    except OverflowError:
        return at


def apart(low: Decimal, high: Decimal) -> tuple[Decimal, Decimal]:
    """Whole numbers around two decimals, further away than any rounding goes.

    Spark compares decimals of many digits, and unites them, in a type that may have fewer digits
    after the point than either: what is equal there may be half of one away.
    """
    with localcontext() as exact:
        exact.prec = 2 * _DIGITS
        least = low.to_integral_value(ROUND_FLOOR) - 1
        most = high.to_integral_value(ROUND_CEILING) + 1
        return (low if least < -_LARGEST else least), (high if most > _LARGEST else most)


def rounded(low: int, high: int) -> tuple[int, int]:
    """Whole numbers a little further apart, and often the same ones as at the last refresh.

    Spark compiles numbers into the code of a query; with others it compiles and keeps it anew.
    """
    grain = max((high - low) >> _GRAIN_BITS, 1)
    grain = 1 << (grain.bit_length() - 1)
    least, most = low - low % grain, high - high % grain + grain - 1
    return max(least, -(2**63)), min(most, 2**63 - 1)


def _literal(value: Any) -> str:
    if isinstance(value, dt.datetime):
        if value.tzinfo is None:
            return f"TIMESTAMP_NTZ'{value.isoformat(sep=' ')}'"
        return f"TIMESTAMP'{value.astimezone(dt.UTC).isoformat(sep=' ')}'"
    if isinstance(value, dt.date):
        return f"DATE'{value.isoformat()}'"
    if isinstance(value, Decimal):
        return f"{value:f}BD"
    return f"{value}L"
