"""What users defined."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.store import queries
from headwater.store.dialects import Database
from headwater.store.encoding import moment, stamp
from headwater.store.marks import Mark, Marks
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.location import Location

_SQL = queries.load("definitions")


@dataclass(frozen=True, slots=True)
class DefinitionRecord:
    """One applied definition and where it was written."""

    kind: str
    name: str
    text: str
    location: Location
    fingerprint: str
    updated_at: datetime


class Definitions:
    """Table `hw_definition`: the definitions that `apply` last carried out.

    One row per kind and name with the statement's own text, the place it was written at (so that
    every later message can name file and line) and a fingerprint of its meaning. `plan` compares a
    project's files with these rows; nothing else decides what a view is.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._marks = Marks(database)

    def put(
        self, kind: str, name: str, text: str, file: str, line: int, column: int, fingerprint: str
    ) -> None:
        """Add or replace one definition."""
        parameters = {
            "kind": kind,
            "name": name,
            "text": text,
            "file": file,
            "line": line,
            "column": column,
            "fingerprint": fingerprint,
            "now": stamp(self._clock.now()),
        }
        with self._database.transaction():
            self._database.change(_SQL["put_definition"], parameters)
            self._marks.bump(Mark.DEFINITIONS)

    def get(self, kind: str, name: str) -> DefinitionRecord | None:
        """One definition, or None."""
        rows = self._database.rows(_SQL["get_definition"], {"kind": kind, "name": name})
        return _record(rows[0]) if rows else None

    def list(self, kind: str | None = None) -> tuple[DefinitionRecord, ...]:
        """All definitions, or those of one kind, by name."""
        if kind is None:
            rows = self._database.rows(_SQL["list_definitions"], {})
        else:
            rows = self._database.rows(_SQL["list_definitions_of_kind"], {"kind": kind})
        return tuple(_record(row) for row in rows)

    def remove(self, kind: str, name: str) -> bool:
        """Forget a definition; false if there was none."""
        parameters = {"kind": kind, "name": name}
        with self._database.transaction():
            removed = self._database.change(_SQL["remove_definition"], parameters) == 1
            if removed:
                self._marks.bump(Mark.DEFINITIONS)
        return removed


def _record(row: tuple[Any, ...]) -> DefinitionRecord:
    kind, name, text, file, line, column, fingerprint, updated_at = row
    place = Location(file, line, column)
    return DefinitionRecord(kind, name, text, place, fingerprint, moment(updated_at))
