"""`headwater jobs`"""

from __future__ import annotations

from argparse import ArgumentParser

from headwater.cli.command import Command
from headwater.cli.options import add_output, add_project
from headwater.vocabulary.errors import UnknownName


def options(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="only this job")
    add_output(parser)
    add_project(parser)


def jobs(command: Command, *, name: str | None) -> None:
    """List the standing duties: who has each, when it runs next."""
    from headwater.cli.text.fleet import jobs_table  # noqa: PLC0415  (speed)

    with command.opened() as hw:
        ledger, now = hw.workspace.ledger, command.clock.now()
        found = [job for job in ledger.jobs.list() if job.dropped_at is None]
        if name is not None:
            found = [job for job in found if job.name == name.lower()]
            if not found:
                raise UnknownName(f"no job `{name}`", hint="`headwater jobs` lists them")
        addresses = {runner.id: runner.address for runner in ledger.runners.list()}
        shown = [{**job.to_json(), "address": addresses.get(job.owner or "")} for job in found]
        command.output.show(shown, lambda: [jobs_table(found, addresses, now)])
