"""`headwater history`"""

from __future__ import annotations

from argparse import ArgumentParser

from headwater.cli.command import Command
from headwater.cli.options import add_output, add_project, positive


def options(parser: ArgumentParser) -> None:
    parser.add_argument("view", metavar="V", nargs="?", help="only of this view")
    parser.add_argument(
        "--limit", metavar="N", type=positive(int), default=20, help="how many (default: 20)"
    )
    parser.add_argument("--before", metavar="ID", help="go on after the attempt with this id")
    add_output(parser)
    add_project(parser)


def history(command: Command, *, view: str | None, limit: int, before: str | None) -> None:
    """List attempts to refresh, newest first."""
    from headwater.cli.text.attempts import history_table  # noqa: PLC0415  (speed)

    with command.opened() as hw:
        if view is not None:
            hw.workspace.view(view)
        found = hw.history(view, limit=limit, before=before)
        command.output.show([a.to_json() for a in found], lambda: [history_table(found)])
