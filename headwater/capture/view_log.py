"""What a view's own table says about the view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headwater.capture.actions import Commit
from headwater.capture.classify import CommitKind, classify
from headwater.capture.log import TableLog
from headwater.capture.schema import SchemaChange, schema_change
from headwater.vocabulary.errors import HistoryGone
from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.stamp import Stamp


@dataclass(frozen=True)
class CommittedState:
    """The newest commit of ours."""

    version: int
    stamp: Stamp
    commit: Commit

    @property
    def frontier(self) -> Frontier:
        return self.stamp.frontier

    @property
    def sequence(self) -> int:
        return self.stamp.sequence

    @property
    def attempt(self) -> str:
        return self.stamp.attempt


def committed_state(log: TableLog, up_to: int | None = None) -> CommittedState | None:
    """The newest stamped commit, up to a version; None if none of those that are left is ours."""
    for commit in _newest_first(log, up_to=up_to):
        stamp = stamp_of(commit)
        if stamp is not None:
            return CommittedState(commit.version, stamp, commit)
    return None


def foreign_commits(
    log: TableLog, after_version: int, up_to: int | None = None
) -> tuple[Commit, ...]:
    """Commits later than a version by which somebody else changed the view's rows or columns."""
    later = _newest_first(log, after_version, up_to)
    found = [c for c in later if stamp_of(c) is None and _disturbs(log, c)]
    return tuple(reversed(found))


def overlapped(log: TableLog, state: CommittedState) -> tuple[int, ...]:
    """Versions stamped between a commit and the version it started from.

    The fence lets none come to be; should one be there all the same (a table moved, copied or made
    again under a refresher), rows may have been applied twice.
    """
    if state.stamp.base < 0:
        return ()
    between = _newest_first(log, state.stamp.base, state.version - 1)
    return tuple(reversed([c.version for c in between if stamp_of(c) is not None]))


def find_attempt(log: TableLog, attempt_id: str, after_version: int) -> Commit | None:
    """The commit of one attempt among those later than a version."""
    for commit in _newest_first(log, after_version):
        stamp = stamp_of(commit)
        if stamp is not None and stamp.attempt == attempt_id:
            return commit
    return None


def stamp_of(commit: Commit) -> Stamp | None:
    """Our stamp on a commit; one that only looks like ours is somebody else's."""
    try:
        return Stamp.from_json(commit.user_metadata)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _newest_first(
    log: TableLog, after_version: int = -1, up_to: int | None = None
) -> Iterator[Commit]:
    """Commits down to a version, or to where the log has been cleaned up."""
    if not log.exists():
        return
    newest = log.latest_version() if up_to is None else up_to
    for version in range(newest, after_version, -1):
        try:
            yield log.commit(version)
        except HistoryGone:
            return


def _disturbs(log: TableLog, commit: Commit) -> bool:
    if classify(commit) is not CommitKind.NO_DATA:
        return True
    if commit.metadata is None or commit.version == 0:
        return False
    try:
        before = log.metadata(commit.version - 1)
    except HistoryGone:
        return True
    changed = schema_change(before, commit.metadata) != SchemaChange()
    return changed or before.table_id != commit.metadata.table_id
