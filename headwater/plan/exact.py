"""When two values are the same.

Spark takes -0.0 for 0.0, and texts for equal that a collation does not tell apart; its groups take
maps for equal whose entries stand in another order, and elsewhere it compares no maps at all. To an
expression these are not the same: one zero is written "-0.0", and `map_keys` tells the order. So
such delicate values are compared as they are written. And no join of Spark finds a NULL that has no
type, such as that of `SELECT NULL AS x`, so it is given one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from headwater.vocabulary.names import quoted

Delicate = Mapping[str, str]
"""Column -> type, of those whose values need care."""

NONE: Delicate = {}

_DELICATE = re.compile(r"\b(?:float\b|double\b|map<|collate |void$)")
_NUMBERS = ("float", "double")


def delicate(columns: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Those of some columns (name, type) that are."""
    return {name: type_ for name, type_ in columns if _DELICATE.search(type_)}


def exact_keys(columns: Iterable[str], fragile: Delicate, side: str = "") -> list[str]:
    """SQL of values that are equal where, and only where, the columns' values are the same."""
    return [key for name in columns for key in _exact(side + quoted(name), fragile.get(name))]


def same(columns: Iterable[str], fragile: Delicate = NONE) -> str:
    """Whether rows t and s have the same values there."""
    return _equal(exact_keys(columns, fragile, "t."), exact_keys(columns, fragile, "s."))


def alike(columns: Iterable[str], fragile: Delicate = NONE) -> str:
    """Whether they may have; rows are found faster this way."""
    doubtful = {name: type_ for name, type_ in fragile.items() if not _is_comparable(type_)}
    return same(columns, doubtful)


def same_value(left: str, right: str, type_: str | None) -> str:
    """Whether two values of a type are the same, one of them perhaps computed."""
    return _equal(_exact(f"({left})", type_), _exact(f"({right})", type_))


def _equal(left: Iterable[str], right: Iterable[str]) -> str:
    return " AND ".join(f"{one} <=> {other}" for one, other in zip(left, right, strict=True))


def _exact(column: str, type_: str | None) -> tuple[str, ...]:
    if type_ is None:
        return (column,)
    if type_ in _NUMBERS:
        return (column, f"CASE WHEN {column} = 0 THEN CAST({column} AS STRING) END")
    if _is_comparable(type_):
        return (f"CAST({column} AS BINARY)",)
    if type_ == "void":
        return (f"CAST({column} AS STRING)",)
    return (f"CAST({column} AS STRING)", f"to_json({column})")


def _is_comparable(type_: str) -> bool:
    """A number or a text, not a value made of several."""
    return type_ in _NUMBERS or type_.startswith("string ")
