"""`headwater status`"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from typing import TYPE_CHECKING

from headwater.cli.command import Command
from headwater.cli.options import add_every, add_output, add_project
from headwater.cli.output import Text

if TYPE_CHECKING:
    from headwater.api import Headwater


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--watch", action="store_true", help="go on showing it")
    add_every(parser)
    add_output(parser)
    add_project(parser)


def status(command: Command, *, watch: bool, every: float) -> None:
    """Show how fresh every view is and what runs now."""
    with command.opened() as hw:
        if not watch:
            _show(command, hw, command.output.show)
            return
        with command.output.repeated() as show:
            while True:
                _show(command, hw, show)
                command.clock.sleep(every)
                hw.workspace.reload()


def _show(command: Command, hw: Headwater, show: Callable[[object, Text], None]) -> None:
    from headwater.cli.text.statuses import status_table  # noqa: PLC0415  (speed)

    found, now = hw.status(), command.clock.now()
    show([s.to_json() for s in found], lambda: [status_table(found, now)])
