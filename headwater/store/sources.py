"""What was found out about each source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from headwater.store import queries
from headwater.store.dialects import Database
from headwater.store.encoding import json_text, json_value, moment, stamp
from headwater.vocabulary.clock import Clock

_SQL = queries.load("sources")


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A source as it was last resolved; `facts` is anything else worth not asking for again."""

    name: str
    path: str
    table_id: str | None
    seen_version: int | None
    updated_at: datetime
    facts: Mapping[str, Any] = field(default_factory=dict)


class Sources:
    """Table `hw_source`: the physical table behind each source's name, as last resolved.

    One row per source with its path, the id of the physical table (a recreated table has another),
    the newest version seen, and further facts as JSON. It saves opening tables only to learn what
    has not changed; everything in it can be asked for again.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def get(self, name: str) -> SourceRecord | None:
        """What is known of one source, or None."""
        rows = self._database.rows(_SQL["get_source"], {"name": name})
        return _record(rows[0]) if rows else None

    def list(self) -> tuple[SourceRecord, ...]:
        """What is known of every source, by name."""
        return tuple(_record(row) for row in self._database.rows(_SQL["list_sources"], {}))

    def put(
        self,
        name: str,
        path: str,
        table_id: str | None,
        seen_version: int | None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a source or replace all that is known of it."""
        self._database.change(
            _SQL["put_source"],
            {
                "name": name,
                "path": path,
                "table_id": table_id,
                "seen_version": seen_version,
                "facts": json_text(dict(facts or {})),
                "now": stamp(self._clock.now()),
            },
        )

    def saw(self, name: str, table_id: str, version: int) -> bool:
        """Move the last seen version forward; false for another table or an older version."""
        parameters = {"name": name, "table_id": table_id, "seen_version": version}
        return self._database.change(_SQL["see_source"], parameters) == 1

    def remove(self, name: str) -> bool:
        """Forget a source; false if there was none."""
        return self._database.change(_SQL["remove_source"], {"name": name}) == 1


def _record(row: tuple[Any, ...]) -> SourceRecord:
    name, path, table_id, seen_version, facts, updated_at = row
    return SourceRecord(name, path, table_id, seen_version, moment(updated_at), json_value(facts))
