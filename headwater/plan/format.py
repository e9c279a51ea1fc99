"""What can be told of a stored compilation without loading the planner."""

from __future__ import annotations

import json

FORMAT = 11
"""Raised whenever the same query may be lowered to other operators or stored in other columns."""


def is_current(text: str) -> bool:
    """Whether it was made by this version's way of lowering."""
    return bool(_value(text).get("format") == FORMAT)


def has_own_functions(text: str) -> bool:
    """Whether the query calls functions that the user registered."""
    return bool(_value(text).get("functions"))


def _value(text: str) -> dict[str, object]:
    value: dict[str, object] = json.loads(text or "{}")
    return value
