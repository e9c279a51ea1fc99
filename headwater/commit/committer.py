"""Write, then look: a receipt is only given for a commit that was read back as ours.

Delta skips a write silently if its transaction version is not above the last one, and an exception
can come after the log entry was written. So the answer is never taken from the call itself.

| the call      | our commit in the log | meaning                                   |
|---------------|-----------------------|-------------------------------------------|
| returned      | yes                   | committed                                 |
| returned      | no                    | fenced: the sequence was used by another  |
| raised        | yes                   | committed; the error came afterwards      |
| raised        | no                    | nothing happened; the error says why      |
| either        | it cannot be read     | unsettled: the next refresh looks first   |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headwater.capture.actions import Commit
from headwater.commit.target import Target
from headwater.commit.writers import write
from headwater.execute.cause import cause_of
from headwater.execute.staged import Staged
from headwater.vocabulary.errors import (
    CommitFailed,
    CommitUnsettled,
    HeadwaterError,
    RefreshFenced,
)

Lookup = Callable[[str, int], Commit | None]
"""Find a commit by attempt id among those after a version."""

_FENCES = ("ConcurrentTransactionException", "DELTA_CONCURRENT_TRANSACTION")


@dataclass(frozen=True)
class Landed:
    """Our commit as the log has it."""

    version: int
    rows_inserted: int
    rows_deleted: int


def commit(staged: Staged, target: Target, find: Lookup) -> Landed:
    """Write once and settle the outcome by looking."""
    failure: Exception | None = None
    try:
        write(staged.plan.write, staged, target)
    except Exception as error:  # noqa: BLE001  (whatever it was, the log has the last word)
        failure = error
    found = _found(target, find)
    if found is not None:
        return landed(found)
    raise _explained(failure, target)


def _found(target: Target, find: Lookup) -> Commit | None:
    try:
        return find(target.stamp.attempt, target.stamp.base)
    except (HeadwaterError, OSError) as away:
        raise CommitUnsettled(
            f"whether the commit of {target.stamp.view} landed is not known: {cause_of(away)}",
            where=target.path,
        ) from away


def landed(commit: Commit) -> Landed:
    """How many rows a commit added and took away, by its own metrics."""
    metrics = commit.operation_metrics

    def number(name: str) -> int:
        return int(metrics.get(name, 0) or 0)

    updated = number("numTargetRowsUpdated")
    if "numTargetRowsInserted" in metrics:
        inserted = number("numTargetRowsInserted") + updated
        return Landed(commit.version, inserted, number("numTargetRowsDeleted") + updated)
    return Landed(commit.version, number("numOutputRows"), number("numDeletedRows"))


def _explained(failure: Exception | None, target: Target) -> HeadwaterError:
    view, sequence = target.stamp.view, target.stamp.sequence
    if failure is None or any(word in f"{type(failure)}{failure}" for word in _FENCES):
        return RefreshFenced(f"step {sequence} of {view} was committed by another refresher")
    error = CommitFailed(f"the commit of {view} failed: {cause_of(failure)}")
    error.__cause__ = failure
    return error
