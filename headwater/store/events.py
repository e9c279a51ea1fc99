"""What happened that somebody should know, and which alerts are up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headwater.store import queries
from headwater.store.dialects import Database
from headwater.store.encoding import json_text, json_value, moment, stamp

_SQL = queries.load("events")
_TRIM_BATCH = 5_000
_NEWEST = 2**62


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, as it is written down and told to others."""

    kind: str
    subject: str
    level: str
    what: str
    detail: Mapping[str, Any]
    at: datetime
    id: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "at": self.at.isoformat(),
            "kind": self.kind,
            "subject": self.subject,
            "level": self.level,
            "what": self.what,
            "detail": dict(self.detail),
        }


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert that is up."""

    subject: str
    kind: str
    level: str
    changed_at: datetime


class Events:
    """Tables `hw_event` and `hw_alert`: what happened, and the level each alert is at now.

    An alert's level changes by compare-and-set together with its event, in one transaction. So any
    number of checkers may look, and each change of level is one event.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, event: Event) -> None:
        """Write an event down."""
        self._database.change(
            _SQL["add_event"],
            {
                "kind": event.kind,
                "subject": event.subject,
                "level": event.level,
                "what": event.what,
                "detail": json_text(dict(event.detail)),
                "now": stamp(event.at),
            },
        )

    def list(
        self, subject: str | None = None, limit: int = 100, before: int | None = None
    ) -> tuple[Event, ...]:
        """The newest events first."""
        query = "list_events" if subject is None else "list_events_of_subject"
        parameters = {"subject": subject, "limit": limit, "before": before or _NEWEST}
        return tuple(map(_event, self._database.rows(_SQL[query], parameters)))

    def alerts(self) -> tuple[Alert, ...]:
        """The alerts that are up."""
        rows = self._database.rows(_SQL["list_alerts"], {})
        return tuple(Alert(subject, kind, level, moment(at)) for subject, kind, level, at in rows)

    def change_alert(self, event: Event, *, seen: str | None, rests: bool) -> bool:
        """Move an alert from the level seen (None: not up) to the event's; false if too late.

        `rests` says that the event's level means that all is well.
        """
        names = {"subject": event.subject, "kind": event.kind}
        moved = names | {"level": event.level, "seen": seen, "now": stamp(event.at)}
        query = "clear_alert" if rests else "raise_alert" if seen is None else "move_alert"
        with self._database.transaction():
            if self._database.change(_SQL[query], moved) != 1:
                return False
            self.add(event)
        return True

    def trim(self, now: datetime, keep_days: float = 7, keep_rows: int = 100_000) -> int:
        """Drop what is older or more than is kept, in short transactions."""
        before = stamp(now - timedelta(days=keep_days))
        dropped = 0
        while batch := self._trim("trim_old_events", _TRIM_BATCH, before):
            dropped += batch
        surplus = self._database.rows(_SQL["count_events"], {})[0][0] - keep_rows
        while surplus > 0 and (
            batch := self._trim("trim_surplus_events", min(surplus, _TRIM_BATCH))
        ):
            dropped += batch
            surplus -= batch
        return dropped

    def _trim(self, query: str, batch: int, before_at: str | None = None) -> int:
        return self._database.change(_SQL[query], {"batch": batch, "before_at": before_at})


def _event(row: tuple[Any, ...]) -> Event:
    id_, at, kind, subject, level, what, detail = row
    return Event(kind, subject, level, what, json_value(detail), moment(at), id_)
