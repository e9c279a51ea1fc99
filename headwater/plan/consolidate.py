"""Signed rows netted: equal rows' weights are summed, and what sums to nothing vanishes."""

from __future__ import annotations

from headwater.plan.render import listed
from headwater.vocabulary.names import WEIGHT, quoted


def consolidated(columns: tuple[str, ...], relation: str) -> str:
    """One row per distinct tuple of a signed relation."""
    weight = quoted(WEIGHT)
    names = listed(columns)
    return (
        f"SELECT {names}, SUM({weight}) AS {weight} FROM {relation} "
        f"GROUP BY {names} HAVING SUM({weight}) <> 0"
    )


def difference(columns: tuple[str, ...], after: str, before: str) -> str:
    """after - before, as signed rows; both are given as SQL that yields the columns."""
    names, weight = listed(columns), quoted(WEIGHT)
    plus = f"SELECT {names}, CAST(1 AS BIGINT) AS {weight} FROM {_source(after)}"
    minus = f"SELECT {names}, CAST(-1 AS BIGINT) AS {weight} FROM {_source(before)}"
    return consolidated(columns, f"({plus} UNION ALL {minus})")


def _source(sql: str) -> str:
    return sql if sql.startswith("(") else f"({sql})"
