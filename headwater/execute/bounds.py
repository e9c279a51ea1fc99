"""Ranges that hold all values of a relation, as a condition with literals."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
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

_ANYTHING = "TRUE"


class Bounds:
    """Fills in what is known of the relations that were made so far."""

    def __init__(self, session: SparkSession, kept: Mapping[str, Kept]) -> None:
        self._session = session
        self._kept = kept
        self._known: dict[tuple[str, str], tuple[list[Any], bool] | None] = {}

    def fill(self, sql: str) -> str:
        return filled(sql, self._condition)

    def _condition(self, bound: Bound) -> str:
        at = bound.relation, bound.value
        if at not in self._known:
            self._known[at] = self._values(bound)
        known = self._known[at]
        return _ANYTHING if known is None else condition(bound.key, *known)

    def _values(self, bound: Bound) -> tuple[list[Any], bool] | None:
        """The values and whether NULL is one of them; None where that is not worth the asking."""
        kept = self._kept.get(bound.relation)
        if kept is None and any(each.table is None for each in self._kept.values()):
            return None
        if kept is not None and kept.table is None:
            value = bound.value
            null = f"if(count(*) > count({value}), NULL, max({value}))"
            three = f"array(min({value}), max({value}), {null})"
            asked = f"SELECT explode({three}) AS v FROM {quoted(bound.relation)}"
            return _orderable(self._session.sql(asked).toArrow().column(0))
        name = bound.value.strip("`")
        if kept is not None and kept.table is not None and name in kept.table.column_names:
            return _orderable(kept.table.column(name))
        read = f"SELECT {bound.value} AS v FROM {quoted(bound.relation)} LIMIT {SMALL_ROWS + 1}"
        found = self._session.sql(read).toArrow().column(0)
        return _orderable(found) if len(found) <= SMALL_ROWS else None


def condition(key: str, values: list[Any], has_null: bool) -> str:  # noqa: FBT001
    """True for every row whose key is among the values."""
    parts = [f"{key} BETWEEN {_literal(low)} AND {_literal(high)}" for low, high in ranges(values)]
    parts += [f"{key} IS NULL"] if has_null else []
    return f"({' OR '.join(parts)})" if parts else "FALSE"


def ranges(values: list[Any]) -> list[tuple[Any, Any]]:
    """At most so many ranges that hold all of the sorted values, the widest gaps left out."""
    gaps = sorted(((b - a, at) for at, (a, b) in enumerate(pairwise(values), 1)), reverse=True)
    cuts = sorted(at for _, at in gaps[: _MOST_RANGES - 1])
    starts, ends = [0, *cuts], [*cuts, len(values)]
    return [(values[a], values[b - 1]) for a, b in zip(starts, ends, strict=True) if a < b]


def _orderable(column: pa.ChunkedArray) -> tuple[list[Any], bool] | None:
    """Sorted distinct values of a type whose order no conversion turns round.

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
    return sorted(values - {None}), None in values


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
