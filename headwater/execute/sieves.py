"""Which column of a relation tells its rows best apart."""

from __future__ import annotations

from collections.abc import Mapping

from headwater.execute.relations import Kept, is_sendable
from headwater.plan.sieve import Sieve, sieved
from headwater.vocabulary.names import quoted

_LEAST_ROWS = 500_000
"""Of a smaller table all columns are compared sooner than another relation is sent to its rows."""

_TELLING = 0.25
"""A column with fewer values than this share of the rows lets too many others through."""


class Sieves:
    """Fills in a look-up by one column where a large table is searched by all of them."""

    def __init__(self, kept: Mapping[str, Kept], table_rows: int | None) -> None:
        self._kept = kept
        self._is_worth_it = (table_rows or 0) >= _LEAST_ROWS

    def fill(self, sql: str) -> str:
        return sieved(sql, self._column) if self._is_worth_it else sql

    def _column(self, sieve: Sieve) -> str | None:
        kept = self._kept[sieve.relation]
        counts = _counts(kept, sieve.columns) if is_sendable(kept) else {}
        best = max(counts, key=lambda name: counts[name], default=None)
        return best if best is not None and counts[best] >= _TELLING * kept.rows else None


def _counts(kept: Kept, columns: tuple[str, ...]) -> dict[str, int]:
    """Distinct values, about, of the columns of whole numbers that have no NULL."""
    from pyspark.sql.types import IntegerType, LongType  # noqa: PLC0415  (only where Spark runs)

    types = {field.name: field.dataType for field in kept.frame.schema}
    names = [name for name in columns if isinstance(types[name], (IntegerType, LongType))]
    if kept.table is not None:
        found = {name: kept.table.column(name) for name in names}
        return {n: len(column.unique()) for n, column in found.items() if not column.null_count}
    if not names:
        return {}
    asked = (
        f"if(count({name}) = count(*), approx_count_distinct({name}), 0)"
        for name in map(quoted, names)
    )
    (row,) = kept.frame.selectExpr(*asked).collect()
    return dict(zip(names, row, strict=True))
