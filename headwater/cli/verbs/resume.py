"""`headwater resume`"""

from __future__ import annotations

from argparse import ArgumentParser

from headwater.cli.command import Command
from headwater.cli.job_wishes import add_jobs, wished
from headwater.cli.options import add_output, add_project


def options(parser: ArgumentParser) -> None:
    add_jobs(parser)
    add_output(parser)
    add_project(parser)


def resume(command: Command, *, names: list[str]) -> int:
    """Let jobs go on: paused ones, and ones that an error stopped."""
    with command.opened() as hw:
        jobs = hw.workspace.ledger.jobs
        return wished(
            command, jobs, names, "resumed", lambda job: jobs.resume(job.id, command.clock.now())
        )
