"""`headwater apply`"""

from __future__ import annotations

from argparse import ArgumentParser

from headwater.cli.blocks import Block
from headwater.cli.command import Command
from headwater.cli.figures import counted
from headwater.cli.options import add_output, add_project


def options(parser: ArgumentParser) -> None:
    add_output(parser)
    add_project(parser)


def apply(command: Command) -> None:
    """Bring the views in line with the project.

    Creates, rebuilds, alters and drops, just as `plan` shows it.
    """
    from headwater.cli.text.actions import action_line  # noqa: PLC0415  (speed)

    with command.opened() as hw, command.output.busy("applying"):
        done = hw.apply(told=lambda action: command.output.tell(action_line(action)))

    def text() -> list[Block]:
        if not done:
            return ["nothing to do: the views are as the project defines them"]
        return [f"done: {counted(len(done), 'action')}"]

    command.output.show([action.to_json() for action in done], text)
