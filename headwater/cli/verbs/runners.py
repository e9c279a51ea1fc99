"""`headwater runners`"""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter

from headwater.cli.command import Command
from headwater.cli.options import add_output, add_project
from headwater.vocabulary.names import RESERVED_PREFIX


def options(parser: ArgumentParser) -> None:
    add_output(parser)
    add_project(parser)


def runners(command: Command) -> None:
    """List the processes that serve and what each has to do."""
    from headwater.cli.text.fleet import runners_table  # noqa: PLC0415  (speed)

    with command.opened() as hw:
        ledger, now = hw.workspace.ledger, command.clock.now()
        found, jobs = ledger.runners.list(), ledger.jobs.list()
        owned = Counter(job.owner for job in jobs if job.dropped_at is None)
        leader = next(
            (job.owner for job in jobs if job.name == f"{RESERVED_PREFIX}coordinator"), None
        )
        shown = [
            {**runner.to_json(), "jobs": owned[runner.id], "leads": runner.id == leader}
            for runner in found
        ]
        command.output.show(shown, lambda: [runners_table(found, owned, leader, now)])
