"""How far one iteration goes, so that a backlog is worked off in durable steps."""

from __future__ import annotations

from datetime import datetime

from headwater.capture.actions import Commit
from headwater.capture.classify import CommitKind, classify
from headwater.capture.log import TableLog
from headwater.capture.volume import changed_bytes, changed_rows
from headwater.vocabulary.errors import HistoryGone

MAX_MINUTES = 30.0


def bounded_window(
    log: TableLog,
    since: int,
    latest: int,
    *,
    max_minutes: float | None = MAX_MINUTES,
    max_rows: int | None = None,
    max_bytes: int | None = None,
) -> int:
    """The version up to which an iteration that starts after `since` goes.

    It takes at least one commit, however big; None leaves a limit out. A log with commits missing
    is not divided: the view is rebuilt in any case, and then at the newest version.
    """
    reached, rows, size = since, 0, 0
    started: datetime | None = None
    for version in range(since + 1, latest + 1):
        try:
            commit = log.commit(version)
        except HistoryGone:
            return latest
        started = started or commit.timestamp
        rows, size = rows + _rows(commit), size + _bytes(commit)
        minutes = (commit.timestamp - started).total_seconds() / 60
        limits = ((minutes, max_minutes), (rows, max_rows), (size, max_bytes))
        if reached > since and any(limit is not None and it > limit for it, limit in limits):
            return reached
        reached = version
    return reached


def _rows(commit: Commit) -> int:
    return (changed_rows(commit) or 0) if classify(commit) is not CommitKind.NO_DATA else 0


def _bytes(commit: Commit) -> int:
    return changed_bytes(commit) if classify(commit) is not CommitKind.NO_DATA else 0
