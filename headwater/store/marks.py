"""Whether anything changed since one last looked, at the price of one small read."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from headwater.store import queries
from headwater.store.dialects import Database

_SQL = queries.load("marks")


class Mark(StrEnum):
    """What a change can be about."""

    DEFINITIONS = "definitions"
    RUNNERS = "runners"
    JOBS = "jobs"
    COMMANDS = "commands"


class Marks:
    """Table `hw_mark`: one growing number per kind of change.

    Whoever changes definitions, runners, jobs' settings or commands bumps the mark in the same
    transaction. A process that compares the numbers every second learns of everything at once and
    asks for the rest only then.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self) -> Mapping[str, int]:
        """All marks; one that was never bumped is missing."""
        return dict(self._database.rows(_SQL["list_marks"], {}))

    def bump(self, mark: Mark) -> None:
        """Tell everybody that looks."""
        self._database.change(_SQL["bump_mark"], {"name": mark.value})
