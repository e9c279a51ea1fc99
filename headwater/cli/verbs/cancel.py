"""`headwater cancel`"""

from __future__ import annotations

from argparse import ArgumentParser

from headwater.cli.command import Command
from headwater.cli.options import add_output, add_project


def options(parser: ArgumentParser) -> None:
    parser.add_argument("attempt", metavar="ID", help="the attempt's id, as `history` shows it")
    add_output(parser)
    add_project(parser)


def cancel(command: Command, *, attempt: str) -> int:
    """Ask a running attempt to stop before it commits.

    Ends with status 1 if it is not running.
    """
    with command.opened() as hw:
        asked = hw.cancel(attempt, by="cli")
        found = hw.workspace.ledger.attempts.get(attempt)
    state = found.state.value if found else "gone"
    text = f"attempt {attempt} was asked to stop" if asked else f"attempt {attempt} is {state}"
    command.output.show({"attempt": attempt, "asked": asked, "state": state}, lambda: [text])
    return 0 if asked else 1
