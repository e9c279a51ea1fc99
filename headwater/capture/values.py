"""How many values a column can have: those between the least and the greatest that files tell of.

Delta keeps both for every file, of the columns that it has statistics of. Whole numbers and days
are countable; of other types nothing is told.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headwater.capture.actions import Action

_FILES = 16
"""So many files, the first and the last among them, tell it well enough for a price."""

Ends = tuple[int, int]


def countable_values(adds: Sequence[Action]) -> dict[str, int]:
    """Column -> values at most; the names are those in the files."""
    found: dict[str, Ends] = {}
    for add in _some(adds):
        for column, (low, high) in _ends(add):
            least, most = found.get(column, (low, high))
            found[column] = min(low, least), max(high, most)
    return {column: high - low + 1 for column, (low, high) in found.items()}


def _some(adds: Sequence[Action]) -> Sequence[Action]:
    if len(adds) <= _FILES:
        return adds
    step = (len(adds) - 1) / (_FILES - 1)
    return [adds[round(n * step)] for n in range(_FILES)]


def _ends(add: Action) -> Iterator[tuple[str, Ends]]:
    try:
        told = json.loads(add.get("stats") or "{}")
        least, most = told.get("minValues") or {}, told.get("maxValues") or {}
    except (ValueError, AttributeError):
        return
    for column in _both(least, most):
        low, high = _number(least[column]), _number(most[column])
        if low is not None and high is not None:
            yield column, (low, high)


def _both(least: Mapping[str, Any], most: Mapping[str, Any]) -> list[str]:
    return [column for column in least if column in most]


def _number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    try:
        return dt.date.fromisoformat(value).toordinal() if isinstance(value, str) else None
    except ValueError:
        return None
