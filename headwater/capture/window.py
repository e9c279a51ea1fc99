"""How far one iteration goes, so that a backlog is worked off in durable steps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater.capture.actions import Commit
from headwater.capture.classify import CommitKind, classify
from headwater.capture.log import TableLog
from headwater.capture.volume import changed_bytes, changed_rows
from headwater.vocabulary.errors import HistoryGone

_WORTH = 10
"""A part of 1/10 of what a window may hold is worth a commit of its own."""


@dataclass(frozen=True)
class Limits:
    """What one iteration takes at most; None leaves a limit out."""

    minutes: float | None = 30.0
    rows: int | None = None
    bytes: int | None = None

    def are_passed(self, minutes: float, rows: int, size: int) -> bool:
        """Whether so much commit time and so many changes are too much for one iteration."""
        parts = ((rows, self.rows), (size, self.bytes))
        if any(limit is not None and it > limit for it, limit in parts):
            return True
        return self.minutes is not None and minutes > self.minutes

    def are_worth(self, rows: int, size: int) -> bool:
        """Whether so many changes are enough for one; where only time is limited, any number is."""
        parts = [(it, limit) for it, limit in ((rows, self.rows), (size, self.bytes)) if limit]
        return not parts or any(it * _WORTH >= limit for it, limit in parts)


def bounded_window(log: TableLog, since: int, latest: int, limits: Limits) -> int:
    """The version up to which an iteration that starts after `since` goes.

    It takes at least one commit, however big, and goes on past the limit of time while it holds too
    little to be worth a commit. A log with commits missing is not divided: the view is rebuilt in
    any case, and then at the newest version.
    """
    reached, rows, size = since, 0, 0
    started: datetime | None = None
    for version in range(since + 1, latest + 1):
        try:
            commit = log.commit(version)
        except HistoryGone:
            return latest
        started = started or commit.timestamp
        is_worth = reached > since and limits.are_worth(rows, size)
        rows, size = rows + _rows(commit), size + _bytes(commit)
        minutes = (commit.timestamp - started).total_seconds() / 60
        if is_worth and limits.are_passed(minutes, rows, size):
            return reached
        reached = version
    return reached


def _rows(commit: Commit) -> int:
    return (changed_rows(commit) or 0) if classify(commit) is not CommitKind.NO_DATA else 0


def _bytes(commit: Commit) -> int:
    return changed_bytes(commit) if classify(commit) is not CommitKind.NO_DATA else 0
