"""`headwater verify`"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import TYPE_CHECKING

from headwater.cli.command import Command
from headwater.cli.options import add_output, add_project, add_views
from headwater.vocabulary.errors import WrongUse

if TYPE_CHECKING:
    from headwater.answers.verify import Verification
    from headwater.api import Headwater


def options(parser: ArgumentParser) -> None:
    add_views(parser)
    parser.add_argument(
        "--where", metavar="COND", help="compare only rows for which this SQL condition holds"
    )
    add_output(parser)
    add_project(parser)


def verify(command: Command, *, views: list[str], where: str | None) -> int:
    """Compare views with their queries at their frontiers.

    Ends with status 1 if any row differs. Nothing is repaired.
    """
    from headwater.cli.text.verifications import verification_blocks  # noqa: PLC0415  (speed)

    found = []
    with command.opened() as hw:
        for view in views or sorted(hw.workspace.definitions.views):
            with command.output.busy(f"verifying {view}"):
                command.output.step("comparing")
                found.append(_verified(hw, view, where))
        command.output.show([f.to_json() for f in found], lambda: verification_blocks(found))
    return 0 if all(f.equal for f in found) else 1


def _verified(hw: Headwater, view: str, where: str | None) -> Verification:
    """A condition that Spark does not understand is the user's mistake, not ours."""
    try:
        return hw.verify(view, where=where)
    except Exception as error:
        if where is None or type(error).__name__ not in {"AnalysisException", "ParseException"}:
            raise
        what = str(error).split("\n")[0]
        raise WrongUse(f"--where {where!r} cannot be used on {view}: {what}") from error
