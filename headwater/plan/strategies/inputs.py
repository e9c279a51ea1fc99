"""The steps that read sources, for the relations a plan turned out to use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater.plan.planning import Planning, changes_name, new_name, old_name
from headwater.plan.steps import ReadChanges, ReadSnapshot, Step
from headwater.vocabulary.algebra import Node, scans

Catalog = Mapping[str, tuple[str, ...]]
"""Source -> its columns at the time of definition."""


@dataclass(frozen=True)
class SourceWindow:
    """How one source moves in this refresh."""

    source: str
    before: int | None  # None: the view has never read it
    after: int
    changed: bool
    inserts_only: bool = False
    has_feed: bool = True
    rows: int | None = None  # how many rows changed, as far as the log tells
    bytes: int | None = None  # of the files that tell which
    total_rows: int | None = None
    reach: float = 1.0  # the share of the source's files that rows were taken from
    values: Mapping[str, int] = field(
        default_factory=dict, hash=False
    )  # column -> how many, at most


def used_fields(root: Node, source: str) -> tuple[str, ...]:
    """The columns of a source that a view reads, over all its occurrences."""
    names: dict[str, None] = {}
    for scan in scans(root):
        if scan.source == source:
            names.update(dict.fromkeys(name for name, _ in scan.fields))
    return tuple(names)


def reading_steps(
    planning: Planning, root: Node, windows: Mapping[str, SourceWindow], catalog: Catalog
) -> tuple[Step, ...]:
    """Changes first, then the snapshots that some relation names."""
    steps: list[Step] = []
    for source in sorted(planning.uses_changes):
        window = windows[source]
        steps.append(
            ReadChanges(
                changes_name(source),
                source,
                window.before if window.before is not None else -1,
                window.after,
                used_fields(root, source),
                window.inserts_only,
                window.has_feed,
            )
        )
    for source, is_new in sorted(planning.snapshots):
        window = windows[source]
        name, version = (new_name, window.after) if is_new else (old_name, window.before)
        if version is not None:
            steps.append(ReadSnapshot(name(source), source, version, catalog[source]))
    return tuple(steps)
