"""Whether views hold what their queries say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from headwater.answers.verify import Verification
from headwater.cli.blocks import Block, Table, table
from headwater.cli.text.rows import cell


def verification_blocks(found: Iterable[Verification]) -> list[Block]:
    """A line per view, then examples of the rows that are wrong."""
    all_found = list(found)
    blocks: list[Block] = [_summary(all_found)]
    for verification in all_found:
        blocks += [
            _examples(verification.view, kind, rows)
            for kind, rows in verification.rows.items()
            if rows
        ]
    return blocks


def _summary(found: Sequence[Verification]) -> Table:
    return table(
        "view verdict missing extra different at",
        [
            (
                verification.view,
                _verdict(verification),
                f"{verification.missing:,}",
                f"{verification.extra:,}",
                f"{verification.different:,}",
                str(verification.frontier),
            )
            for verification in found
        ],
        right="missing extra different",
        empty="no view is built yet",
    )


def _verdict(verification: Verification) -> str:
    without = f" but for {', '.join(verification.ignored)}" if verification.ignored else ""
    return f"equal{without}" if verification.equal else "DIFFERENT"


def _examples(view: str, kind: str, rows: Sequence[dict[str, Any]]) -> Table:
    headers = tuple(rows[0])
    cells = tuple(tuple(cell(row[header]) for header in headers) for row in rows)
    return Table(headers, cells, title=f"{view}: {kind} rows (up to 20)")
