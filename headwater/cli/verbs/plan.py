"""`headwater plan`"""

from __future__ import annotations

from argparse import ArgumentParser

from headwater.cli.blocks import Block
from headwater.cli.command import Command
from headwater.cli.options import add_output, add_project, add_sql


def options(parser: ArgumentParser) -> None:
    add_sql(parser)
    add_output(parser)
    add_project(parser)


def plan(command: Command, *, sql: bool) -> None:
    """Show what `apply` would do.

    With --sql: the statements that would bring every view up to date, ready to run.
    """
    if sql:
        _show_scripts(command)
    else:
        _show_actions(command)


def _show_actions(command: Command) -> None:
    from headwater.cli.text.actions import plan_table  # noqa: PLC0415  (speed)

    with command.opened(leave_no_trace=True) as hw:
        actions = hw.plan()
    command.output.show([a.to_json() for a in actions], lambda: [plan_table(actions)])


def _show_scripts(command: Command) -> None:
    from headwater.project.planned_sql import ViewScript, planned_scripts  # noqa: PLC0415  (speed)

    def text(script: ViewScript) -> Block:
        statements = [f"{statement};" for statement in script.statements]
        return "\n".join([f"-- view {script.view}", f"-- {script.why}", *statements])

    with command.opened(leave_no_trace=True) as hw, command.output.busy("planning"):
        scripts = planned_scripts(hw.workspace)
    command.output.show([s.to_json() for s in scripts], lambda: [text(s) for s in scripts])
