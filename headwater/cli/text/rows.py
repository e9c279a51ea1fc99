"""Rows of data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headwater.cli.blocks import Table

_LONGEST = 80


def rows_table(headers: Sequence[str], rows: Sequence[Sequence[Any]], empty: str) -> Table:
    """Rows as they were read, each value shortened to what fits a screen."""
    shown = tuple(tuple(cell(value) for value in row) for row in rows)
    return Table(tuple(headers), shown, empty=empty)


def cell(value: Any) -> str:
    """A value as text; what Spark calls NULL is told from the empty string."""
    text = "NULL" if value is None else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
