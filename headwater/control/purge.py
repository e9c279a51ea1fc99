"""How much of the history of a table that Headwater manages nobody needs any more.

purged below <= min(frontier of every view that reads the table, what the user's retention keeps)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from headwater.store.views import ViewRecord

_LEAST_BATCH = 1
_MOST_BATCH = 10_000
_QUICK = timedelta(seconds=1)
_SLOW = timedelta(seconds=5)


class ChangeHistory(Protocol):
    """A managed table's versions, oldest first, and how they are deleted."""

    @property
    def table_id(self) -> str: ...

    def mark(self) -> int:
        """The version below which everything has been deleted."""
        ...

    def first_after(self, moment: datetime) -> int:
        """The oldest version that was current at or after a moment."""
        ...

    def delete(self, first: int, end: int) -> None:
        """Delete what only the versions from `first` up to but not including `end` need."""
        ...

    def move_mark(self, version: int) -> None:
        """Remember that everything below a version is deleted."""
        ...


@dataclass(frozen=True)
class Purged:
    """What one purge did; `done` is false if it was stopped before its floor."""

    floor: int
    mark: int
    done: bool


def floor(
    source: str, table_id: str, views: Iterable[ViewRecord], readers: Iterable[str], kept: int
) -> int | None:
    """The first version that must stay; None if a reader's need is not known, so nothing may go.

    `kept` is the first version that the user's retention keeps. A view that is building counts like
    any other: without a frontier, or with one of another table of that name, its need is unknown.
    """
    known = {view.name: view for view in views}
    needed = [kept]
    for reader in readers:
        view = known.get(reader)
        seen = None if view is None else view.frontier.get(source)
        if seen is None or seen.table_id != table_id:
            return None
        needed.append(seen.version)
    return min(needed)


def purge(
    history: ChangeHistory,
    lowest: int,
    *,
    now: Callable[[], datetime],
    cancelled: Callable[[], bool] = lambda: False,
    batch: int = 100,
) -> Purged:
    """Delete up to the floor in batches that grow while they are quick and shrink when slow.

    The mark moves once, when everything below the floor is gone; a purge that was cut begins again
    from the old mark, and deleting what is gone already does no harm.
    """
    mark = history.mark()
    at = mark
    while at < lowest:
        if cancelled():
            return Purged(lowest, mark, done=False)
        began = now()
        end = min(lowest, at + batch)
        history.delete(at, end)
        at, took = end, now() - began
        batch = min(_MOST_BATCH, batch * 2) if took <= _QUICK else batch
        batch = max(_LEAST_BATCH, batch // 2) if took >= _SLOW else batch
    if at > mark:
        history.move_mark(at)
    return Purged(lowest, max(mark, at), done=True)
