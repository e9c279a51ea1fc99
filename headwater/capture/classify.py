"""What kind of change a commit is, from what it says it did and which files it names.

Files decide first, because they are the change; the operation only tells a table that was replaced
as a whole from one in which many rows moved.
"""

from __future__ import annotations

from enum import StrEnum

from headwater.capture.actions import Commit
from headwater.capture.schema import SchemaChange, TableMetadata, schema_change
from headwater.vocabulary.reason import Reason


class CommitKind(StrEnum):
    """The shape of one commit."""

    NO_DATA = "no_data"  # properties, OPTIMIZE, VACUUM, ...: the rows are the same
    APPEND = "append"  # rows came, none went
    MIXED = "mixed"  # rows came and went; the change feed tells which
    REPLACE = "replace"  # the content was exchanged as a whole


OVERWRITTEN = "SOURCE_OVERWRITTEN"
_WHOLE = {
    "TRUNCATE": Reason("SOURCE_TRUNCATED", "truncated"),
    "RESTORE": Reason("SOURCE_RESTORED", "restored to an older version"),
    "CLONE": Reason("SOURCE_CLONED", "replaced by a clone of another table"),
}
"""Operations that exchange a table's content, and how the user is told."""


def classify(
    commit: Commit, *, own: bool = False, before: TableMetadata | None = None
) -> CommitKind:
    """The kind of one commit.

    `own` is for tables that Headwater writes. An overwrite of such a table counts as MIXED as long
    as it keeps the columns (`before` are those it found): its feed is every old row out and every
    new one in, and what remains of that after netting is usually little.
    """
    if not (commit.adds.data_change or commit.removes.data_change or commit.cdc_files):
        return CommitKind.NO_DATA
    if not (commit.removes.data_change or commit.cdc_files or commit.adds.with_deletion_vector):
        return CommitKind.APPEND
    reason = replacement(commit)
    if reason is None or not commit.removes.data_change:
        return CommitKind.MIXED
    if own and reason.code == OVERWRITTEN and not _reshaped(commit, before):
        return CommitKind.MIXED
    return CommitKind.REPLACE


def replacement(commit: Commit) -> Reason | None:
    """Why a commit's operation counts as exchanging the whole content, if it does."""
    if commit.operation in _WHOLE:
        found = _WHOLE[commit.operation]
        return Reason(found.code, f"version {commit.version}: the table was {found.text}")
    if _is_full_overwrite(commit):
        return Reason(OVERWRITTEN, f"version {commit.version}: the table was overwritten")
    return None


def _is_full_overwrite(commit: Commit) -> bool:
    """An overwrite without a condition and not only of the partitions it writes."""
    asked = commit.operation_parameters
    if commit.operation == "WRITE":
        part = asked.get("predicate") or _is_true(asked.get("isDynamicPartitionOverwrite"))
        return str(asked.get("mode", "")).lower() == "overwrite" and not part
    if commit.operation == "STREAMING UPDATE":
        return str(asked.get("outputMode", "")).lower() == "complete"
    return commit.operation.startswith(("CREATE OR REPLACE TABLE", "REPLACE TABLE"))


def _is_true(value: object) -> bool:
    return str(value).lower() == "true"


def _reshaped(commit: Commit, before: TableMetadata | None) -> bool:
    if commit.metadata is None:
        return False
    if before is None or before.table_id != commit.metadata.table_id:
        return True
    return schema_change(before, commit.metadata) != SchemaChange()
