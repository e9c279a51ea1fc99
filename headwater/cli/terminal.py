"""Drawing on a terminal. Loads rich: import this only where a terminal is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from rich.console import Console, Group
from rich.live import Live
from rich.status import Status
from rich.table import Table as RichTable
from rich.text import Text

from headwater.cli.blocks import Block, Table

_STYLES = {
    "failed": "red", "orphaned": "red", "DIFFERENT": "bold red", "INVALID": "bold red",
    "canceled": "yellow", "building": "yellow", "deferred": "yellow", "running": "cyan",
    "rebuild": "yellow", "succeeded": "green", "ready": "green", "equal": "green",
    "up to date": "green", "yes": "green", "no": "dim",
}  # fmt: skip


def print_blocks(blocks: Sequence[Block], stream: IO[str]) -> None:
    """Blocks with a blank line between them, fitted to the terminal."""
    console = Console(file=stream, highlight=False)
    for at, block in enumerate(blocks):
        if at:
            console.print()
        console.print(drawn(block))


def drawn(block: Block) -> RichTable | Text:
    """A block as rich draws it; user text is never read as markup."""
    if isinstance(block, str):
        return Text(block)
    if not block.rows:
        return Text("\n".join(filter(None, (block.title, block.empty))))
    return _drawn_table(block)


def status_line(stream: IO[str]) -> Status:
    return Status("", console=Console(file=stream, highlight=False))


@contextmanager
def redrawn(stream: IO[str]) -> Iterator[Callable[[Sequence[Block]], None]]:
    """A part of the screen that is drawn again and again."""
    console = Console(file=stream, highlight=False)
    with Live(console=console, auto_refresh=False, redirect_stdout=False) as screen:
        yield lambda blocks: screen.update(Group(*map(drawn, blocks)), refresh=True)


def _drawn_table(block: Table) -> RichTable:
    title = Text(block.title) if block.title else None
    made = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), title=title)
    made.title_justify = "left"
    last = len(block.headers) - 1
    for at, header in enumerate(block.headers):
        made.add_column(
            Text(header),
            justify="right" if header in block.right else "left",
            no_wrap=at != last,
            overflow="fold" if at == last else "ellipsis",
        )
    for row in block.rows:
        made.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in row))
    return made
