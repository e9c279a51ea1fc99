"""A table that views may read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from headwater.define.kind import Kind
from headwater.vocabulary.location import Location


class SourceFormat(StrEnum):
    """Where a source's rows come from."""

    DELTA = "delta"  # a Delta table, by path or catalog name
    JDBC = "jdbc"  # a database table without a feed: reloaded and compared
    FILES = "files"  # a folder in which files land


class Cadence(StrEnum):
    """How often a source's part of a view's frontier moves."""

    STREAM = "stream"  # at every refresh
    BATCH = "batch"  # a dictionary: on its own slower cadence, or on demand


@dataclass(frozen=True, kw_only=True)
class SourceDef:
    """One CREATE SOURCE; exactly one of `path`, `table` and `url` + `table` says where it is."""

    name: str
    display: str
    format: SourceFormat = SourceFormat.DELTA
    path: str | None = None
    table: str | None = None
    url: str | None = None
    file_format: str | None = None
    reload_every: timedelta | None = None
    key: tuple[str, ...] = ()
    cadence: Cadence = Cadence.STREAM
    text: str
    location: Location
    name_location: Location

    @property
    def kind(self) -> Kind:
        return Kind.SOURCE
