"""The demo's story, line by line, and the table that sums it up."""

from __future__ import annotations

from functools import singledispatch

from headwater.cli import figures
from headwater.cli.blocks import Block, Table, table
from headwater.cli.text.receipts import receipt_line
from headwater.demo.story import (
    Began,
    Built,
    Changed,
    Event,
    Made,
    Refreshed,
    Story,
    Sum,
    Verified,
)

_NAMES = 18
_TOO_SMALL = """\
At this size a commit costs more than computing a view anew. A refresh costs in proportion to the
change, a recompute in proportion to the tables: `headwater demo --rows 5000000` shows it."""
_NEXT = ("  headwater status", "  headwater explain daily_revenue --sql", "  headwater history")


@singledispatch
def event_line(event: Event) -> str:
    """One event as it happens."""
    raise TypeError(f"no line for {type(event).__name__}")


@event_line.register
def _made(event: Made) -> str:
    counts = ", ".join(f"{count:,} {name}" for name, count in event.rows.items())
    return f"tables: {counts}  ({figures.seconds(event.seconds)})\n\nfirst builds"


@event_line.register
def _built(event: Built) -> str:
    return f"  {receipt_line(event.receipt, _NAMES)}"


@event_line.register
def _began(event: Began) -> str:
    commits = figures.counted(len(event.statements), "commit")
    return f"\nround {event.number}, {event.title}  ({commits}, {figures.seconds(event.seconds)})"


@event_line.register
def _refreshed(event: Refreshed) -> str:
    line = receipt_line(event.receipt, _NAMES)
    again = event.recomputed
    if again is None:
        return f"  {line}"
    cost = f"recompute {figures.seconds(again.seconds):>7}  {figures.counted(again.rows, 'row')}"
    return f"  {line:<58}  {cost}"


@event_line.register
def _changed(_event: Changed) -> str:
    return "\nverify: is every view what its query gives now?"


@event_line.register
def _verified(event: Verified) -> str:
    return f"  {event.view:<{_NAMES}}  {'equal' if event.is_equal else 'DIFFERENT'}"


def story_blocks(story: Story) -> list[Block]:
    """The sum of it, and what to try next."""
    verdict = "every view equals its query" if story.is_equal else "SOME VIEW IS WRONG"
    sums = story.sums()
    return [
        f"in all {figures.seconds(story.seconds)}; {verdict}",
        _sums_table(sums),
        *(_size_note(sums)),
        "\n".join(["the project stays; go on with", f"  cd {story.folder}", *_NEXT]),
    ]


def _sums_table(sums: list[Sum]) -> Table:
    return table(
        "view techniques rows_written by_recompute refreshing recomputing gain verified",
        [
            (
                each.view,
                ", ".join(each.techniques),
                f"{each.rows:,}",
                f"{each.recomputed_rows:,}",
                figures.seconds(each.seconds),
                figures.seconds(each.recompute_seconds),
                f"{each.recompute_seconds / each.seconds:.1f}x" if each.seconds else "",
                "equal" if each.is_equal else "DIFFERENT",
            )
            for each in sums
        ],
        right="rows_written by_recompute refreshing recomputing gain",
    )


def _size_note(sums: list[Sum]) -> list[Block]:
    """Said where it is so: below some size a commit costs more than the query it saves."""
    spent, again = sum(s.seconds for s in sums), sum(s.recompute_seconds for s in sums)
    return [] if spent < again else [_TOO_SMALL]
