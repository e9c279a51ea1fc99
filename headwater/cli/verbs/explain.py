"""`headwater explain`"""

from __future__ import annotations

from argparse import ArgumentParser

from headwater.cli.command import Command
from headwater.cli.options import add_output, add_project, add_sql, add_view


def options(parser: ArgumentParser) -> None:
    add_view(parser)
    add_sql(parser)
    add_output(parser)
    add_project(parser)


def explain(command: Command, *, view: str, sql: bool) -> None:
    """Show what the next refresh would do, and why.

    Also why the other techniques are not open, and with --sql the statements of each step.
    """
    from headwater.cli.text.explanations import explanation_blocks  # noqa: PLC0415  (speed)

    with command.opened() as hw:
        found = hw.explain(view)
    command.output.show(found.to_json(), lambda: explanation_blocks(found, sql=sql))
