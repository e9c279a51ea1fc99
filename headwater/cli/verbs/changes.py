"""`headwater changes`"""

from __future__ import annotations

from argparse import ArgumentParser

from headwater.cli.blocks import Block
from headwater.cli.command import Command
from headwater.cli.options import add_output, add_project, add_view, natural, positive


def options(parser: ArgumentParser) -> None:
    add_view(parser)
    parser.add_argument(
        "--since",
        metavar="N",
        type=natural,
        default=0,
        help="after this version of the view's table (default: 0)",
    )
    parser.add_argument(
        "--limit", metavar="N", type=positive(int), default=100, help="how many (default: 100)"
    )
    add_output(parser)
    add_project(parser)


def changes(command: Command, *, view: str, since: int, limit: int) -> None:
    """Print the rows that came and went in a view."""
    from headwater.cli.text.rows import rows_table  # noqa: PLC0415  (speed)

    with command.opened() as hw, command.output.busy(f"reading changes of {view}"):
        frame = hw.changes(view, since=since)
        columns, found = frame.columns, [tuple(row) for row in frame.limit(limit + 1).collect()]
    shown, more = found[:limit], len(found) > limit

    def text() -> list[Block]:
        blocks: list[Block] = [rows_table(columns, shown, f"no change since version {since}")]
        return [*blocks, "there are more: use --limit or --since"] if more else blocks

    rows = [dict(zip(columns, row, strict=True)) for row in shown]
    command.output.show({"view": view, "since": since, "rows": rows, "more": more}, text)
