"""What a refresh did, a line per view."""

from __future__ import annotations

from headwater.cli import figures
from headwater.vocabulary.errors import HeadwaterError
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.technique import Technique


def receipt_line(receipt: Receipt, width: int = 0) -> str:
    """View, technique, rows and time; for a skip the reason stands where the rows would."""
    did = figures.rows(receipt.rows_inserted, receipt.rows_deleted) + " rows"
    if receipt.technique is Technique.SKIP:
        did = receipt.reasons[0].text if receipt.reasons else "nothing to do"
    name = receipt.view.ljust(width)
    took = figures.seconds(receipt.seconds)
    return f"{name}  {receipt.technique.value:<7}  {took:>7}  {did}"


def reason_lines(receipt: Receipt) -> list[str]:
    """Why a view was rebuilt; the other techniques need no excuse."""
    if receipt.technique is not Technique.REBUILD:
        return []
    return [f"  why: {reason}" for reason in receipt.reasons]


def failure_lines(failures: dict[str, HeadwaterError]) -> list[str]:
    """Each cause once; views that were not tried because of it name the one that failed."""
    first: dict[int, str] = {}
    lines = []
    for view, error in failures.items():
        cause = first.setdefault(id(error), view)
        if cause == view:
            lines.append(f"{view}: {error}")
        else:
            lines.append(f"{view}: not tried, because {cause} failed")
    return lines
