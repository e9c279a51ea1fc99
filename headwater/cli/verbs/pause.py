"""`headwater pause`"""

from __future__ import annotations

from argparse import ArgumentParser

from headwater.cli.command import Command
from headwater.cli.job_wishes import add_jobs, wished
from headwater.cli.options import add_output, add_project


def options(parser: ArgumentParser) -> None:
    add_jobs(parser)
    add_output(parser)
    add_project(parser)


def pause(command: Command, *, names: list[str]) -> int:
    """Keep jobs from starting; what runs goes on."""
    with command.opened() as hw:
        jobs = hw.workspace.ledger.jobs
        return wished(command, jobs, names, "paused", lambda job: jobs.pause(job.id))
