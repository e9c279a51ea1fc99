"""Signed rows netted: the weights of the same row are summed, and what sums to nothing vanishes."""

from __future__ import annotations

from headwater.plan.exact import NONE, Delicate, exact_keys
from headwater.plan.render import listed
from headwater.vocabulary.names import WEIGHT, quoted


def consolidated(columns: tuple[str, ...], relation: str, fragile: Delicate = NONE) -> str:
    """One row per distinct tuple of a signed relation; each value comes out as it went in."""
    weight = quoted(WEIGHT)
    return (
        f"SELECT {given_back(columns, fragile)}, SUM({weight}) AS {weight} FROM {relation} "
        f"GROUP BY {', '.join(exact_keys(columns, fragile))} HAVING SUM({weight}) <> 0"
    )


def given_back(columns: tuple[str, ...], fragile: Delicate) -> str:
    """The values of a group of the same rows; its keys are not always what went into it."""
    names = {name: quoted(name) for name in columns}
    return ", ".join(
        f"first({column}) AS {column}" if name in fragile else column
        for name, column in names.items()
    )


def difference(columns: tuple[str, ...], after: str, before: str, fragile: Delicate = NONE) -> str:
    """after - before, as signed rows; both are given as SQL that yields the columns."""
    names, weight = listed(columns), quoted(WEIGHT)
    plus = f"SELECT {names}, CAST(1 AS BIGINT) AS {weight} FROM {_source(after)}"
    minus = f"SELECT {names}, CAST(-1 AS BIGINT) AS {weight} FROM {_source(before)}"
    return consolidated(columns, f"({plus} UNION ALL {minus})", fragile)


def _source(sql: str) -> str:
    return sql if sql.startswith("(") else f"({sql})"
