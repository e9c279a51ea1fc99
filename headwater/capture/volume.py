"""How much a commit changed, as far as its own figures tell."""

from __future__ import annotations

from headwater.capture.actions import Commit
from headwater.capture.view_log import stamp_of


def changed_rows(commit: Commit) -> int | None:
    """Rows that came plus rows that went; an updated row counts twice, as in the feed."""
    stamp = stamp_of(commit)
    if stamp is not None and stamp.inserted is not None:
        return stamp.inserted + (stamp.deleted or 0)
    if commit.operation == "MERGE":
        return _merged(commit)
    if commit.operation == "UPDATE":
        updated = commit.metric("numUpdatedRows")
        return None if updated is None else 2 * updated
    if commit.operation == "DELETE":
        deleted = commit.metric("numDeletedRows")
        return deleted if deleted is not None else commit.removes.rows
    if (part := _replaced_part(commit)) is not None:
        return part
    came, went = commit.adds.rows, commit.removes.rows
    return None if came is None or went is None else came + went


def changed_bytes(commit: Commit) -> int:
    """Bytes of the files that a reader of the change would open."""
    return commit.cdc.bytes or commit.adds.bytes + commit.removes.bytes


def _merged(commit: Commit) -> int | None:
    inserted = commit.metric("numTargetRowsInserted")
    updated = commit.metric("numTargetRowsUpdated")
    deleted = commit.metric("numTargetRowsDeleted")
    if inserted is None or updated is None or deleted is None:
        return None
    return inserted + 2 * updated + deleted


def _replaced_part(commit: Commit) -> int | None:
    """A conditional overwrite reports the rows it only carried over."""
    deleted, written = commit.metric("numDeletedRows"), commit.metric("numOutputRows")
    if deleted is None or written is None:
        return None
    return deleted + written - (commit.metric("numCopiedRows") or 0)
