"""`headwater drain`"""

from __future__ import annotations

from argparse import ArgumentParser

from headwater.cli.command import Command
from headwater.cli.options import add_output, add_project
from headwater.vocabulary.errors import StateConflict, UnknownName
from headwater.vocabulary.lifecycle.runner import RunnerState


def options(parser: ArgumentParser) -> None:
    parser.add_argument("runner", metavar="RUNNER", help="a runner's id or address")
    parser.add_argument("--undo", action="store_true", help="let it take part again")
    add_output(parser)
    add_project(parser)


def drain(command: Command, *, runner: str, undo: bool) -> None:
    """Move a runner's jobs to the others, each when its run is over."""
    before, after = RunnerState.ACTIVE, RunnerState.DRAINING
    before, after = (after, before) if undo else (before, after)
    with command.opened() as hw:
        runners = hw.workspace.ledger.runners
        found = [each for each in runners.list() if runner in {each.id, each.address}]
        if not found:
            raise UnknownName(f"no runner `{runner}`", hint="`headwater runners` lists them")
        if not runners.set_state(found[0].id, after, expected=before):
            raise StateConflict(f"{found[0].address} is {found[0].state.value}, not {before.value}")
    shown = {"runner": found[0].id, "address": found[0].address, "state": after.value}
    command.output.show(shown, lambda: [f"{found[0].address} is {after.value}"])
