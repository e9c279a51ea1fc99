"""`headwater sources`"""

from __future__ import annotations

from argparse import ArgumentParser

from headwater.cli.command import Command
from headwater.cli.options import add_output, add_project


def options(parser: ArgumentParser) -> None:
    add_output(parser)
    add_project(parser)


def sources(command: Command) -> None:
    """List the sources: where they are, how far, who reads them."""
    from headwater.answers.sources import source_statuses  # noqa: PLC0415
    from headwater.cli.text.sources import sources_table  # noqa: PLC0415  (speed)

    with command.opened() as hw:
        found = source_statuses(hw.workspace)
        command.output.show([s.to_json() for s in found], lambda: [sources_table(found)])
