"""How values are written down, the same in both databases.

Times are fixed-width text in UTC, so that text order is time order and a person at a SQL prompt
can read them. Structures are JSON text with sorted keys, so that equal values are equal texts and
can be compared inside a statement.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from headwater.vocabulary.frontier import Frontier

END_OF_TIME = "9999-12-31T23:59:59.999999Z"
"""Sorts after every stamp."""


def stamp(moment: datetime) -> str:
    """Write a moment down; a moment without a zone is refused, because it could be any of 24."""
    if moment.tzinfo is None:
        raise ValueError(f"a moment without a time zone: {moment}")
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def moment(text: str) -> datetime:
    """Read a stamp back, in UTC."""
    return datetime.fromisoformat(text)


def optional_moment(text: str | None) -> datetime | None:
    """Read a stamp that may be absent."""
    return None if text is None else moment(text)


def json_text(value: object) -> str:
    """Write a structure down so that equal structures are equal texts."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def json_value(text: str) -> Any:
    """Read a structure back."""
    return json.loads(text)


def optional_json(value: Mapping[str, object] | None) -> str | None:
    """Write down a structure that may be absent."""
    return None if value is None else json_text(dict(value))


def frontier_text(frontier: Frontier) -> str:
    """Write a frontier down; equal frontiers are equal texts, which compare-and-set relies on."""
    return json_text(frontier.to_json())


def frontier_value(text: str) -> Frontier:
    """Read a frontier back."""
    return Frontier.from_json(json.loads(text))
