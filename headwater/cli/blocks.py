"""Tables as values, so that what is shown can be tested without a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Row = tuple[str, ...]
_GAP = "  "


@dataclass(frozen=True)
class Table:
    """Rows of text below a line of headers; columns named in `right` are aligned to the right."""

    headers: Row
    rows: tuple[Row, ...]
    right: frozenset[str] = frozenset()
    title: str = ""
    empty: str = "nothing to show"


Block = str | Table


def table(
    headers: str,
    rows: Iterable[Sequence[str]],
    *,
    right: str = "",
    title: str = "",
    empty: str = "nothing to show",
) -> Table:
    """A table whose headers, and those aligned to the right, are words separated by blanks."""
    columns = tuple(header.replace("_", " ") for header in headers.split())
    numbers = frozenset(header.replace("_", " ") for header in right.split())
    return Table(columns, tuple(tuple(row) for row in rows), numbers, title, empty)


def plain(block: Block) -> str:
    """A block for files and pipes: aligned columns, no frame, nothing cut off."""
    if isinstance(block, str):
        return block
    if not block.rows:
        return "\n".join(filter(None, (block.title, block.empty)))
    cells = [block.headers, *(tuple(_one_line(cell) for cell in row) for row in block.rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(block.headers))]
    lines = [_aligned(row, widths, block) for row in cells]
    return "\n".join([*filter(None, (block.title,)), *lines])


def _aligned(row: Row, widths: Sequence[int], block: Table) -> str:
    cells = [
        cell.rjust(width) if header in block.right else cell.ljust(width)
        for cell, width, header in zip(row, widths, block.headers, strict=True)
    ]
    return _GAP.join(cells).rstrip()


def _one_line(cell: str) -> str:
    return " ".join(cell.split("\n"))
