"""`headwater check`"""

from __future__ import annotations

from argparse import ArgumentParser

from headwater.cli.command import Command
from headwater.cli.options import add_output, add_project


def options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--no-spark", action="store_true", help="leave out the analysis by Spark: faster"
    )
    add_output(parser)
    add_project(parser)


def check(command: Command, *, no_spark: bool) -> int:
    """Check the project's definitions; write nothing.

    Ends with status 1 if they are invalid.
    """
    from headwater.project.verbs import check_project  # noqa: PLC0415  (speed)

    with command.opened(leave_no_trace=True) as hw, command.output.busy("checking"):
        report, texts = check_project(hw.workspace, with_spark=not no_spark)
    command.output.show(report.to_json(), lambda: [report.text(texts)])
    return 0 if report.valid else 1
