"""What `pause` and `resume` share: jobs by name, each asked for the same."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Sequence

from headwater.cli.command import Command
from headwater.store.job_record import JobRecord
from headwater.store.jobs import Jobs
from headwater.vocabulary.errors import UnknownName


def add_jobs(parser: ArgumentParser) -> None:
    parser.add_argument(
        "names", metavar="NAME", nargs="+", help="jobs, as `headwater jobs` lists them"
    )


def wished(
    command: Command,
    jobs: Jobs,
    names: Sequence[str],
    done: str,
    wish: Callable[[JobRecord], bool],
) -> int:
    """Ask for all of them, or for none if one is unknown; status 1 if one could not be."""
    found = [job for name in names for job in _known(jobs, name)]
    asked = {job.name: wish(job) for job in found}
    command.output.show(
        [{"job": name, "done": ok} for name, ok in asked.items()],
        lambda: [f"{name} is {done if ok else 'gone'}" for name, ok in asked.items()],
    )
    return 0 if all(asked.values()) else 1


def _known(jobs: Jobs, name: str) -> tuple[JobRecord, ...]:
    found = jobs.find(name.lower())
    if not found:
        raise UnknownName(f"no job `{name}`", hint="`headwater jobs` lists them")
    return found
