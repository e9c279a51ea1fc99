"""`headwater init`"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from headwater.cli.blocks import Block
from headwater.cli.command import Command
from headwater.cli.options import add_output

_NEXT = ("headwater apply", "python change_orders.py", "headwater status")


def options(parser: ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", type=Path, help="the new project's folder")
    add_output(parser)


def init(command: Command, *, folder: Path) -> None:
    """Make a small project that runs as it is.

    It has two tables, three views that can be refreshed, and commented settings.
    """
    from headwater.cli.seeding import make_project  # noqa: PLC0415  (speed)

    written = make_project(folder)

    def text() -> list[Block]:
        commands = (f"cd {folder}", *_NEXT)
        return [
            "\n".join([f"made {folder}", *(f"  {name}" for name in written)]),
            "\n".join(["next:", *(f"  {command}" for command in commands)]),
        ]

    command.output.show({"folder": str(folder), "written": written}, text)
