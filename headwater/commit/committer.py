"""Write, then look: a receipt is only given for a commit that was read back as ours.

An exception can come after the log entry was written, and Delta's writer skips silently a first
build whose transaction version is not above the last one. So the answer is never taken from the
call itself.

| the call      | our commit in the log | meaning                                   |
|---------------|-----------------------|-------------------------------------------|
| returned      | yes                   | committed                                 |
| returned      | no                    | fenced: the sequence was used by another  |
| raised        | yes                   | committed; the error came afterwards      |
| raised        | no                    | nothing happened; the error says why      |
| either        | it cannot be read     | unsettled: the next refresh looks first   |
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from headwater.capture.actions import Commit
from headwater.capture.view_log import stamp_of
from headwater.commit.target import Target
from headwater.commit.writers import write
from headwater.execute.cause import cause_of, kinds_of
from headwater.execute.staged import Staged
from headwater.plan.steps import Overwrite, Patch, Renew
from headwater.vocabulary.errors import (
    CommitFailed,
    CommitUnsettled,
    HeadwaterError,
    RefreshFenced,
)

Lookup = Callable[[str, int], Commit | None]
"""Find a commit by attempt id among those after a version."""

_FENCE = re.compile(r"\bdelta\b.*\.(\w*Concurrent\w*|MetadataChanged|ProtocolChanged)Exception$")
_FENCED = re.compile(r"\[?DELTA_(CONCURRENT|METADATA_CHANGED|PROTOCOL_CHANGED)")


@dataclass(frozen=True)
class Landed:
    """Our commit as the log has it."""

    version: int
    rows_inserted: int
    rows_deleted: int


def commit(staged: Staged, target: Target, find: Lookup) -> Landed | None:
    """Write once and settle the outcome by looking; None where there was nothing to write."""
    failure: Exception | None = None
    try:
        if not write(staged.write, staged, _counted(staged, target)):
            return None
    except Exception as error:  # noqa: BLE001  (whatever it was, the log has the last word)
        failure = error
    with staged.recorder.part("look"):
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
    """How many rows a commit added and took away, by its stamp or by its own metrics."""
    stamp = stamp_of(commit)
    if stamp is not None and stamp.inserted is not None:
        return Landed(commit.version, stamp.inserted, stamp.deleted or 0)
    metrics = commit.operation_metrics
    gone = stamp.deleted if stamp is not None else None
    if gone is None:
        gone = int(metrics.get("numDeletedRows", 0) or 0)
    return Landed(commit.version, int(metrics.get("numOutputRows", 0) or 0), gone)


def _counted(staged: Staged, target: Target) -> Target:
    """The stamp with the numbers of rows, where they are known before the commit."""
    kept = staged.kept.get(staged.write.relation)
    inserted, deleted = kept.rows if kept is not None else None, 0
    if isinstance(staged.write, Patch):
        inserted, deleted = staged.census.inserted, staged.census.deleted
    elif isinstance(staged.write, (Overwrite, Renew)) and staged.stored is not None:
        deleted = staged.stored.rows or 0
    return replace(target, stamp=replace(target.stamp, inserted=inserted, deleted=deleted))


def _explained(failure: Exception | None, target: Target) -> HeadwaterError:
    if isinstance(failure, HeadwaterError):
        return failure
    view, sequence = target.stamp.view, target.stamp.sequence
    if failure is None or _is_fence(failure):
        return RefreshFenced(f"step {sequence} of {view} was committed by another refresher")
    error = CommitFailed(f"the commit of {view} failed: {cause_of(failure)}")
    error.__cause__ = failure
    return error


def _is_fence(failure: Exception) -> bool:
    """Whether Delta found another commit in the way; what stack traces speak of does not count."""
    kinds = any(_FENCE.search(kind) for kind in kinds_of(failure))
    return kinds or _FENCED.match(cause_of(failure)) is not None
