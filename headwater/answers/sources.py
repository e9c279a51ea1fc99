"""What every source is, from the definitions and the tables' own logs; no Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headwater.define.graph import dependents
from headwater.define.source import SourceDef
from headwater.plan.view import Columns
from headwater.vocabulary.errors import HeadwaterError
from headwater.workspace.workspace import Workspace

FEED = "delta.enableChangeDataFeed"


@dataclass(frozen=True)
class SourceStatus:
    """One source: where it lies, how far it is, who reads it."""

    name: str
    place: str
    key: tuple[str, ...]
    cadence: str
    version: int | None  # None if the table cannot be read
    has_feed: bool | None
    columns: Columns
    readers: tuple[str, ...]
    error: HeadwaterError | None

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.name,
            "place": self.place,
            "key": list(self.key),
            "cadence": self.cadence,
            "version": self.version,
            "has_feed": self.has_feed,
            "columns": [{"name": name, "type": type_} for name, type_ in self.columns],
            "readers": list(self.readers),
            "error": self.error.to_json() if self.error else None,
        }


def source_statuses(workspace: Workspace) -> list[SourceStatus]:
    """All sources by name; one that cannot be read says why."""
    sources = workspace.definitions.sources
    return [_status(workspace, sources[name]) for name in sorted(sources)]


def _status(workspace: Workspace, source: SourceDef) -> SourceStatus:
    version, feed, error = None, None, None
    columns: Columns = ()
    try:
        log = workspace.log_of(source.name)
        version, metadata = log.latest_version(), log.metadata()
        feed = metadata.configuration.get(FEED, "false").lower() == "true"
        columns = tuple((field.name, field.type_text) for field in metadata.schema)
    except HeadwaterError as unreadable:
        error = unreadable
    return SourceStatus(
        source.name,
        source.path or source.table or source.url or "",
        source.key,
        source.cadence.value,
        version,
        feed,
        columns,
        dependents(workspace.definitions, source.name),
        error,
    )
