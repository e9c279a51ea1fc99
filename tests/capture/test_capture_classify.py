"""The kind of every operation Delta knows, from commits it really wrote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from headwater.capture.actions import Commit
from headwater.capture.classify import CommitKind, classify, replacement
from headwater.capture.volume import changed_rows

Captured = Callable[[str], Commit]

KINDS = {
    CommitKind.NO_DATA: (
        "add_column add_constraint append_of_nothing change_column_comment cluster_by "
        "create_or_replace_empty create_table drop_column drop_feature drop_feature_empty "
        "drop_feature_tombstones feed_off mapping_off mapping_on merge_of_nothing optimize "
        "optimize_clustered optimize_zorder overwrite_same_data rename_column reorg_purge "
        "restore_to_same row_tracking_backfill set_properties unset_properties upgrade_protocol "
        "vacuum_end vacuum_start widen_column"
    ),
    CommitKind.APPEND: (
        "append append_identity append_merging_schema append_streaming append_with_transaction "
        "clone convert create_table_as_select in_commit_timestamps merge_inserts_only"
    ),
    CommitKind.MIXED: (
        "delete delete_all delete_deletion_vector delete_partition merge merge_deletion_vector "
        "merge_same_values replace_dynamic_partitions replace_where replace_where_partition "
        "update update_deletion_vector update_without_feed"
    ),
    CommitKind.REPLACE: (
        "create_or_replace create_or_replace_as_select overwrite overwrite_by_nothing "
        "overwrite_insert overwrite_save_as_table overwrite_schema overwrite_streaming_complete "
        "replace_table_as_select restore truncate"
    ),
}
EXPECTED = [(name, kind) for kind, names in KINDS.items() for name in names.split()]


@pytest.mark.parametrize(("name", "kind"), EXPECTED)
def test_every_operation_has_its_kind(captured: Captured, name: str, kind: CommitKind) -> None:
    """What Delta writes for an operation is classified as what the operation does."""
    assert classify(captured(name)) is kind


def test_no_captured_commit_is_left_out() -> None:
    """Every captured commit stands in the table of kinds exactly once."""
    files = {p.stem for p in (Path(__file__).parent / "commits").glob("*.json")}
    assert sorted(name for name, _ in EXPECTED) == sorted(files)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("overwrite", CommitKind.MIXED),
        ("overwrite_by_nothing", CommitKind.MIXED),
        ("overwrite_save_as_table", CommitKind.MIXED),
        ("overwrite_schema", CommitKind.REPLACE),
        ("create_or_replace_as_select", CommitKind.REPLACE),
        ("restore", CommitKind.REPLACE),
        ("truncate", CommitKind.REPLACE),
        ("append", CommitKind.APPEND),
        ("optimize", CommitKind.NO_DATA),
    ],
)
def test_own_overwrites_are_mixed(captured: Captured, name: str, kind: CommitKind) -> None:
    """In a view's own table an overwrite that keeps the columns is followed through its feed."""
    assert classify(captured(name), own=True) is kind


def test_own_overwrite_with_equal_columns_is_mixed(captured: Captured) -> None:
    """A metadata action that changes no column does not make an own overwrite a replacement."""
    commit = captured("overwrite_schema")
    assert classify(commit, own=True, before=commit.metadata) is CommitKind.MIXED


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("truncate", "SOURCE_TRUNCATED"),
        ("restore", "SOURCE_RESTORED"),
        ("clone", "SOURCE_CLONED"),
        ("overwrite", "SOURCE_OVERWRITTEN"),
        ("overwrite_streaming_complete", "SOURCE_OVERWRITTEN"),
        ("create_or_replace_as_select", "SOURCE_OVERWRITTEN"),
    ],
)
def test_each_replacement_names_itself(captured: Captured, name: str, code: str) -> None:
    """Truncate, restore, clone and overwrite each have a reason code of their own."""
    reason = replacement(captured(name))
    assert reason is not None
    assert reason.code == code


def test_files_added_with_a_deletion_vector_are_no_append(captured: Captured) -> None:
    """A file that arrives with some of its rows deleted is not read as plain inserts."""
    commit = captured("append")
    adds = replace(commit.adds, with_deletion_vector=1)
    assert classify(replace(commit, adds=adds)) is CommitKind.MIXED


def test_a_commit_without_commit_info_goes_by_its_files(captured: Captured) -> None:
    """Writers may leave out what they did; files that vanish are then a mixed change."""
    assert classify(replace(captured("overwrite"), operation="")) is CommitKind.MIXED
    assert classify(replace(captured("append"), operation="")) is CommitKind.APPEND


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("append", 20),
        ("update", 2),
        ("update_deletion_vector", 2),
        ("delete", 1),
        ("delete_deletion_vector", 1),
        ("delete_all", 32),
        ("merge", 6),
        ("merge_inserts_only", 4),
        ("replace_where", 8),
        ("overwrite", None),
    ],
)
def test_changed_rows_come_from_the_commit(captured: Captured, name: str, rows: int | None) -> None:
    """The number of changed rows counts an update twice and copied rows not at all."""
    assert changed_rows(captured(name)) == rows


def test_a_commit_tells_its_transaction_and_stamp(captured: Captured) -> None:
    """Transactions and user metadata are read as they were written."""
    commit = captured("append_with_transaction")
    assert commit.transactions == {"app": 7}
    assert commit.user_metadata == '{"headwater":1}'
    assert commit.transaction_id


def test_in_commit_timestamps_win(captured: Captured) -> None:
    """Where a table keeps commit times in its commits, those are the times."""
    assert int(captured("in_commit_timestamps").timestamp.timestamp() * 1000) == 1794727393934
