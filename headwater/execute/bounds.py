"""Ranges that hold all values of a relation, as a condition with literals."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from headwater.execute.relations import SMALL_ROWS, Kept
from headwater.plan.within import Bound, filled
from headwater.vocabulary.names import quoted

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_MOST_RANGES = 16
"""Enough for keys in a few clusters; more would cost more to plan than they save."""

_NARROW = 2 * _MOST_RANGES
"""A gap of less than this part of all that the values span is read with the rest."""

_ANYTHING = "TRUE"


class Bounds:
    """Fills in what is known of the relations that were made so far."""

    def __init__(self, session: SparkSession, kept: Mapping[str, Kept]) -> None:
        self._session = session
        self._kept = kept
        self._known: dict[tuple[str, str], Span | None] = {}

    def fill(self, sql: str) -> str:
        return filled(sql, self._condition)

    def _condition(self, bound: Bound) -> str:
        at = bound.relation, bound.value
        if at not in self._known:
            self._known[at] = self._span(bound)
        span = self._known[at]
        return _ANYTHING if span is None else span.condition(bound.key)

    def _span(self, bound: Bound) -> Span | None:
        """None where the asking is not worth it, or where order means nothing."""
        kept = self._kept.get(bound.relation)
        if kept is None:
            all_small = all(each.table is not None for each in self._kept.values())
            return self._read(bound) if all_small else None
        if kept.table is None:
            return self._ends(bound)
        name = bound.value.strip("`")
        if name in kept.table.column_names:
            return span_of(kept.table.column(name))
        return self._read(bound)

    def _read(self, bound: Bound) -> Span | None:
        read = f"SELECT {bound.value} AS v FROM {quoted(bound.relation)} LIMIT {SMALL_ROWS + 1}"
        found = self._session.sql(read).toArrow().column(0)
        return span_of(found) if len(found) <= SMALL_ROWS else None

    def _ends(self, bound: Bound) -> Span | None:
        """Of many values only the least and the greatest are asked for."""
        value = bound.value
        null = f"if(count(*) > count({value}), NULL, max({value}))"
        ends = f"explode(array(min({value}), max({value}), {null}))"
        asked = self._session.sql(f"SELECT {ends} AS v FROM {quoted(bound.relation)}")
        return span_of(asked.toArrow().column(0), most=1)


@dataclass(frozen=True)
class Span:
    """Where values lie: in these ranges, and at NULL."""

    ranges: tuple[tuple[Any, Any], ...]
    has_null: bool

    def condition(self, key: str) -> str:
        """True for every row whose key is among the values."""
        parts = [f"{key} BETWEEN {_literal(low)} AND {_literal(high)}" for low, high in self.ranges]
        parts += [f"{key} IS NULL"] if self.has_null else []
        return f"({' OR '.join(parts)})" if parts else "FALSE"


def span_of(column: pa.ChunkedArray, most: int = _MOST_RANGES) -> Span | None:
    """Where the values of a type lie whose order no conversion turns round.

    Text is left out: set equal to a number or a date it is converted, and then ordered otherwise.
    """
    import pyarrow.types as of  # noqa: PLC0415  (only where Spark runs)

    kind = column.type
    plain = of.is_integer(kind) or of.is_date(kind) or of.is_timestamp(kind)
    if not plain and not of.is_decimal(kind):
        return None
    try:
        values = set(column.to_pylist())
    except (ValueError, OverflowError):  # Spark knows dates that Python does not
        return None
    return Span(tuple(ranges(sorted(values - {None}), most)), None in values)


def ranges(values: list[Any], most: int = _MOST_RANGES) -> list[tuple[Any, Any]]:
    """At most so many ranges that hold all of the sorted values, the widest gaps left out.

    Narrow gaps are not: every range is compared with every row that is read.
    """
    gaps = sorted(((b - a, at) for at, (a, b) in enumerate(pairwise(values), 1)), reverse=True)
    wide = [at for gap, at in gaps[: most - 1] if gap * _NARROW > values[-1] - values[0]]
    cuts = sorted(wide)
    starts, ends = [0, *cuts], [*cuts, len(values)]
    return [(values[a], values[b - 1]) for a, b in zip(starts, ends, strict=True) if a < b]


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
