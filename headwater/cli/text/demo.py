"""The demo's story, line by line, and the table that sums it up."""

from __future__ import annotations

from functools import singledispatch

from headwater.cli import figures
from headwater.cli.blocks import Block, Table, table
from headwater.cli.text.receipts import receipt_line
from headwater.demo.story import Began, Built, Event, Made, Refreshed, Story, Verified

_NAMES = 18


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
    if event.recompute_seconds is None:
        return f"  {line}"
    return f"  {line:<58}  recompute {figures.seconds(event.recompute_seconds):>7}"


@event_line.register
def _verified(event: Verified) -> str:
    return f"  {event.view:<{_NAMES}}  {'equal' if event.is_equal else 'DIFFERENT'}"


def story_blocks(story: Story) -> list[Block]:
    """The sum of it, and what to try next."""
    verdict = "every view equals its query" if story.is_equal else "SOME VIEW IS WRONG"
    return [
        f"in all {figures.seconds(story.seconds)}; {verdict}",
        _sums(story),
        "\n".join(
            [
                "the project stays; go on with",
                f"  cd {story.folder}",
                "  headwater status",
                "  headwater explain daily_revenue --sql",
                "  headwater history",
            ]
        ),
    ]


def _sums(story: Story) -> Table:
    """Per view: how it went, and the time of all its refreshes beside that of the recomputes."""
    verified = {found.view: found.is_equal for found in story.of(Verified)}
    rows = []
    for view, is_equal in verified.items():
        mine = [r for r in story.of(Refreshed) if r.receipt.view == view]
        compared = [r for r in mine if r.recompute_seconds is not None]
        spent = sum(r.receipt.seconds for r in compared)
        again = sum(r.recompute_seconds or 0.0 for r in compared)
        rows.append(
            (
                view,
                ", ".join(dict.fromkeys(r.receipt.technique.value for r in mine)),
                figures.seconds(spent),
                figures.seconds(again),
                f"{again / spent:.1f}x" if spent else "",
                "equal" if is_equal else "DIFFERENT",
            )
        )
    return table(
        "view techniques refreshes recomputes gain verified",
        rows,
        right="refreshes recomputes gain",
    )
