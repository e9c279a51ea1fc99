"""What stands between a window of commits and a change that may be followed step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headwater.capture.actions import Commit
from headwater.capture.log import TableLog
from headwater.capture.schema import SchemaChange, TableMetadata, schema_change
from headwater.vocabulary.frontier import SourceVersion
from headwater.vocabulary.reason import Reason


@dataclass(frozen=True)
class Evolution:
    """How a table's metadata moved through a window."""

    start: TableMetadata  # at the version the window starts after
    steps: tuple[tuple[int, TableMetadata], ...]  # the versions that changed it

    @property
    def end(self) -> TableMetadata:
        return self.steps[-1][1] if self.steps else self.start

    def at(self, version: int) -> TableMetadata:
        """The metadata that held once a version was committed."""
        return next((m for v, m in reversed(self.steps) if v <= version), self.start)

    def changes(self) -> Iterator[tuple[int, SchemaChange]]:
        before = self.start
        for version, after in self.steps:
            yield version, schema_change(before, after)
            before = after


def evolution(log: TableLog, commits: tuple[Commit, ...], current: TableMetadata) -> Evolution:
    """Without a metadata action in the window its start is as its end: nothing more is read."""
    steps = tuple((c.version, c.metadata) for c in commits if c.metadata is not None)
    start = log.metadata(commits[0].version - 1) if steps else current
    return Evolution(start, steps)


def recreated(evolved: Evolution, since: SourceVersion) -> Reason | None:
    """Another table under the same name is never a continuation."""
    for version, metadata in ((since.version, evolved.start), *evolved.steps):
        if metadata.table_id != since.table_id:
            return Reason("SOURCE_RECREATED", f"version {version}: the table was made anew")
    return None


def schema_gap(evolved: Evolution, used: frozenset[str] | None) -> Reason | None:
    """A column the view reads is not what it was, or the file columns were moved."""
    for version, change in evolved.changes():
        touched = change.touches(used)
        if touched:
            named = ", ".join(sorted(touched))
            return Reason("SCHEMA_CHANGED", f"version {version}: column {named} changed")
        if change.mapping_changed:
            return Reason("COLUMN_MAPPING_CHANGED", f"version {version}: the mapping mode changed")
    return None


def schema_note(evolved: Evolution) -> Reason | None:
    """The feed shows rows from before a column was added with NULL in it."""
    added = sorted({name for _, change in evolved.changes() for name in change.added})
    if not added:
        return None
    return Reason("COLUMN_ADDED", f"column {', '.join(added)} was added inside the window")


def feed_gap(log: TableLog, evolved: Evolution, after: int, up_to: int) -> Reason | None:
    """Why Delta would refuse to read the change feed of (after, up_to], if it would."""
    off = [v for v, m in evolved.steps if not m.feed_enabled]
    if not evolved.at(after + 1).feed_enabled:
        off.insert(0, after + 1)
    if off:
        return Reason("FEED_OFF", f"the change feed was off at version {off[0]}")
    broken = breaks_rows(evolved)
    if broken is None and evolved.end.mapping_mode == "none":
        broken = _broken_later(log, evolved.end, up_to)
    if broken is not None:
        return Reason("FEED_SCHEMA_CHANGED", f"the feed cannot be read across version {broken}")
    return None


def breaks_rows(evolved: Evolution) -> int | None:
    """The version, if any, since when older files can no longer be read as they were."""
    return next((v for v, c in evolved.changes() if c.lost or c.partitioning_changed), None)


def _broken_later(log: TableLog, end: TableMetadata, up_to: int) -> int | None:
    """Without column mapping Delta decodes the feed with the table's newest columns."""
    latest = log.latest_version()
    if latest == up_to:
        return None
    newest = log.metadata(latest)
    return latest if newest is not end and schema_change(end, newest).lost else None
