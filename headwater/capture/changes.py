"""What changed in one source between a view's frontier and a pinned version."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from headwater.capture.actions import Commit
from headwater.capture.classify import CommitKind, classify, replacement
from headwater.capture.gaps import (
    Evolution,
    breaks_rows,
    evolution,
    feed_gap,
    recreated,
    schema_gap,
    schema_note,
)
from headwater.capture.log import TableLog
from headwater.capture.present import files_present
from headwater.capture.state import TableStatistics
from headwater.capture.volume import changed_bytes, changed_rows
from headwater.vocabulary.errors import HistoryGone
from headwater.vocabulary.frontier import SourceVersion
from headwater.vocabulary.reason import Reason


class ChangeKind(StrEnum):
    """The shape of a whole window; each kind allows less than the one before it."""

    NONE = "none"  # no row changed
    APPEND = "append"  # rows only came
    MIXED = "mixed"  # rows came and went
    REPLACE = "replace"  # the content, or the table, was exchanged: rebuild
    GAP = "gap"  # what happened can no longer be told: rebuild


@dataclass(frozen=True)
class ChangeSet:
    """The change of one source over the window (from_version, to_version]."""

    source: str
    table_id: str  # of the table at to_version
    from_version: int
    to_version: int
    kind: ChangeKind
    reasons: tuple[Reason, ...] = ()
    rows: int | None = 0  # rows that came plus rows that went, before netting; None if unknown
    bytes: int | None = 0
    files: int = 0  # that rows were taken from, counted once per commit
    commits: int = 0
    has_feed: bool = True  # the rows that changed can be read, by the feed or as added files
    has_snapshot: bool = True  # so can the table as of from_version

    @property
    def must_rebuild(self) -> bool:
        return self.kind in {ChangeKind.REPLACE, ChangeKind.GAP}


def capture_changes(
    log: TableLog,
    *,
    source: str,
    since: SourceVersion,
    up_to: int,
    used_columns: frozenset[str] | None = None,
    own: bool = False,
) -> ChangeSet:
    """Classify the window (since, up_to]; `used_columns` None stands for all of them."""
    nothing = ChangeSet(source, since.table_id, since.version, up_to, ChangeKind.NONE)
    settled = _settled(log, nothing)
    if settled is not None:
        return settled
    try:
        commits = log.commits(since.version, up_to)
        evolved = evolution(log, commits, log.metadata(up_to))
    except HistoryGone as gone:
        return _lost(nothing, "HISTORY_GONE", gone.what)
    kinds = {c.version: classify(c, own=own, before=evolved.at(c.version - 1)) for c in commits}
    window = _put_together(nothing, commits, kinds, recreated(evolved, since))
    gap = schema_gap(evolved, used_columns)
    if gap:
        window = replace(window, kind=ChangeKind.GAP, reasons=(gap, *window.reasons))
    if window.kind is ChangeKind.NONE:
        return window
    changing = [c for c in commits if kinds[c.version] is not CommitKind.NO_DATA]
    window = _measured(log, window, changing)
    return window if window.must_rebuild else _barred(log, window, evolved)


def _settled(log: TableLog, nothing: ChangeSet) -> ChangeSet | None:
    """What needs no look at the commits: no change, another table, or no way back."""
    up_to, read = nothing.to_version, nothing.from_version
    if up_to > log.latest_version():
        return _lost(nothing, "SOURCE_REWOUND", f"version {up_to} is no longer there")
    current = log.metadata(up_to).table_id
    if current != nothing.table_id:
        why = Reason("SOURCE_RECREATED", "the table is another one than the view has read")
        other = replace(nothing, table_id=current, kind=ChangeKind.REPLACE, reasons=(why,))
        return replace(other, rows=None, bytes=None)
    if up_to < read:
        return _lost(nothing, "SOURCE_REWOUND", f"the view has already read version {read}")
    return nothing if up_to == read else None


def _put_together(
    nothing: ChangeSet,
    commits: tuple[Commit, ...],
    kinds: dict[int, CommitKind],
    anew: Reason | None,
) -> ChangeSet:
    """The kind of the whole is that of its heaviest part."""
    replaced = tuple(_why(c) for c in commits if kinds[c.version] is CommitKind.REPLACE)
    reasons = (anew, *replaced) if anew else replaced
    kind = ChangeKind.REPLACE if reasons else _overall(kinds)
    return replace(nothing, kind=kind, commits=len(commits), reasons=reasons)


def _overall(kinds: dict[int, CommitKind]) -> ChangeKind:
    found = set(kinds.values())
    if CommitKind.MIXED in found:
        return ChangeKind.MIXED
    return ChangeKind.APPEND if CommitKind.APPEND in found else ChangeKind.NONE


def _why(commit: Commit) -> Reason:
    return replacement(commit) or Reason("SOURCE_OVERWRITTEN", f"version {commit.version}")


def _barred(log: TableLog, window: ChangeSet, evolved: Evolution) -> ChangeSet:
    """Close the ways that cannot be gone: the feed, the older snapshot, or both."""
    after, up_to = window.from_version, window.to_version
    note, feed = schema_note(evolved), feed_gap(log, evolved, after, up_to)
    present = files_present(log, after, up_to)
    reasons = [reason for reason in (note, feed) if reason]
    if not (present.feed and present.snapshot):
        reasons.append(Reason("FILES_VACUUMED", f"{present.missing} is gone"))
    rebuildable = log.can_rebuild(after)
    if not rebuildable:
        reasons.append(Reason("SNAPSHOT_GONE", f"the log of version {after} is cleaned up"))
    appended = window.kind is ChangeKind.APPEND and breaks_rows(evolved) is None
    has_feed = (feed is None or appended) and present.feed
    has_snapshot = present.snapshot and rebuildable
    lost = not (has_feed or has_snapshot)
    return replace(
        window,
        kind=ChangeKind.GAP if lost else window.kind,
        reasons=(*window.reasons, *reasons),
        has_feed=has_feed,
        has_snapshot=has_snapshot,
    )


def _measured(log: TableLog, window: ChangeSet, changing: list[Commit]) -> ChangeSet:
    """Add up the commits' own figures; a single unknown leaves the sum unknown."""
    rows: int | None = 0
    for commit in changing:
        told = changed_rows(commit)
        if told is None and replacement(commit):
            told = _overwritten_rows(log, commit)
        rows = None if rows is None or told is None else rows + told
    files = sum(c.removes.changing for c in changing)
    return replace(window, rows=rows, bytes=sum(changed_bytes(c) for c in changing), files=files)


def _overwritten_rows(log: TableLog, commit: Commit) -> int | None:
    """All that was there and all that is there now."""
    before = known_statistics(log, commit.version - 1)
    after = known_statistics(log, commit.version)
    if before is None or after is None or before.rows is None or after.rows is None:
        return None
    return before.rows + after.rows


def known_statistics(log: TableLog, version: int) -> TableStatistics | None:
    """Rows and bytes of a table at a version, as long as the log still tells them."""
    try:
        return log.statistics(version)
    except (HistoryGone, FileNotFoundError):
        return None


def _lost(nothing: ChangeSet, code: str, text: str) -> ChangeSet:
    return replace(
        nothing,
        kind=ChangeKind.GAP,
        reasons=(Reason(code, text),),
        rows=None,
        bytes=None,
        has_feed=False,
        has_snapshot=False,
    )
