"""`headwater refresh`"""

from __future__ import annotations

from argparse import ArgumentParser

from headwater.cli.as_of import read_as_of
from headwater.cli.command import Command
from headwater.cli.options import add_every, add_output, add_project, add_views
from headwater.cli.refreshing import Asked, follow, refresh_once, show_steps
from headwater.vocabulary.technique import Technique


def options(parser: ArgumentParser) -> None:
    add_views(parser)
    parser.add_argument("--full", action="store_true", help="recompute everything")
    parser.add_argument(
        "--technique",
        metavar="T",
        choices=[technique.value for technique in Technique],
        help=f"use this one or refuse: {', '.join(Technique)}",
    )
    parser.add_argument(
        "--only", action="store_true", help="leave the views it is computed from as they are"
    )
    parser.add_argument(
        "--as-of",
        metavar="N|SRC=N",
        action="append",
        default=[],
        help="up to this version of the source, or of each source by name",
    )
    parser.add_argument(
        "--no-dictionaries",
        dest="dictionaries",
        action="store_false",
        help="leave BATCH sources where the views have read them",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the steps, do nothing")
    parser.add_argument(
        "--profile", action="store_true", help="print where the time went and what Spark did"
    )
    parser.add_argument(
        "--watch", action="store_true", help="go on: refresh whenever a source has changed"
    )
    add_every(parser)
    add_output(parser)
    add_project(parser)


def refresh(
    command: Command,
    *,
    views: list[str],
    full: bool,
    technique: str | None,
    only: bool,
    as_of: list[str],
    dictionaries: bool,
    dry_run: bool,
    profile: bool,
    watch: bool,
    every: float,
) -> int:
    """Bring views up to date, with the views they are computed from.

    Ends with status 1 if any of them failed.
    """
    asked = Asked(
        views=tuple(views),
        technique=Technique(technique) if technique else None,
        full=full,
        only=only,
        as_of=read_as_of(as_of),
        dictionaries=dictionaries,
        profile=profile,
        every=every,
    )
    with command.opened() as hw:
        if dry_run:
            return show_steps(command, hw, asked)
        return follow(command, hw, asked) if watch else refresh_once(command, hw, asked)
