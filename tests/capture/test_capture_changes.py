"""What a window of commits amounts to, and why a view must sometimes be rebuilt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.capture.changes import ChangeKind, ChangeSet, capture_changes
from headwater.capture.present import vector_path
from headwater.vocabulary.frontier import SourceVersion

if TYPE_CHECKING:
    from conftest import WrittenLog

OVERWRITE = {"mode": "Overwrite"}


def captured(written: WrittenLog, since: int, up_to: int | None = None, **asked: Any) -> ChangeSet:
    """The window of a log from a version on, for a view that reads `id` and `v`."""
    asked.setdefault("used_columns", frozenset({"id", "v"}))
    return capture_changes(
        written.log,
        source="orders",
        since=SourceVersion(asked.pop("table_id", written.table_id), since),
        up_to=written.version if up_to is None else up_to,
        **asked,
    )


def codes(change: ChangeSet) -> list[str]:
    return [reason.code for reason in change.reasons]


def put(written: WrittenLog, *names: str) -> None:
    for name in names:
        (written.folder / name).touch()


def test_an_equal_version_is_no_change(written: WrittenLog) -> None:
    """A source that has not moved gives an empty window."""
    written.create()
    change = captured(written, 0)
    assert change.kind is ChangeKind.NONE
    assert (change.commits, change.rows, change.reasons) == (0, 0, ())


def test_commits_without_data_are_no_change(written: WrittenLog) -> None:
    """OPTIMIZE, properties and VACUUM move the version, not the rows."""
    written.create()
    written.append("a")
    compacted = [written.add("b", data_change=False), written.remove("a", data_change=False)]
    written.commit(*compacted, operation="OPTIMIZE")
    written.commit(operation="VACUUM END")
    written.commit(written.metadata("id:long,v:integer"), operation="SET TBLPROPERTIES")
    change = captured(written, 1)
    assert change.kind is ChangeKind.NONE
    assert change.commits == 3


def test_appends_add_up(written: WrittenLog) -> None:
    """Appends around an OPTIMIZE are an append, with the rows and bytes of both."""
    written.create()
    written.append("a", rows=3)
    compacted = [written.add("b", 3, data_change=False), written.remove("a", data_change=False)]
    written.commit(*compacted, operation="OPTIMIZE")
    written.append("c", rows=4)
    put(written, "a", "b", "c")
    change = captured(written, 0)
    assert change.kind is ChangeKind.APPEND
    assert (change.rows, change.bytes, change.commits) == (7, 700, 3)
    assert change.has_feed
    assert change.has_snapshot
    assert change.table_id == "table-1"


def test_one_mixed_commit_makes_the_window_mixed(written: WrittenLog) -> None:
    """Appends do not hide an update between them."""
    written.create()
    written.append("a")
    rewritten = [written.remove("a"), written.add("b")]
    written.commit(*rewritten, operation="UPDATE", operationMetrics={"numUpdatedRows": "2"})
    written.append("c", rows=1)
    put(written, "a", "b", "c")
    change = captured(written, 0)
    assert change.kind is ChangeKind.MIXED
    assert change.rows == 10 + 4 + 1


@pytest.mark.parametrize(
    ("operation", "parameters", "code"),
    [
        ("TRUNCATE", {}, "SOURCE_TRUNCATED"),
        ("RESTORE", {"version": 0}, "SOURCE_RESTORED"),
        ("CLONE", {}, "SOURCE_CLONED"),
        ("WRITE", OVERWRITE, "SOURCE_OVERWRITTEN"),
    ],
)
def test_a_replaced_source_says_how(
    written: WrittenLog, operation: str, parameters: dict[str, Any], code: str
) -> None:
    """Truncated, restored, cloned, overwritten: a replacement, under its own code."""
    written.create()
    written.append("a")
    written.commit(written.remove("a"), operation=operation, operationParameters=parameters)
    written.append("b")
    change = captured(written, 1)
    assert change.kind is ChangeKind.REPLACE
    assert change.must_rebuild
    assert codes(change) == [code]


def test_an_own_overwrite_is_followed(written: WrittenLog) -> None:
    """A view's own overwrite is a mixed change of all old and all new rows."""
    written.create()
    written.append("a", rows=6)
    exchanged = [written.remove("a"), written.add("b", 5)]
    written.commit(*exchanged, operationParameters=OVERWRITE)
    put(written, "a", "b")
    change = captured(written, 1, own=True)
    assert change.kind is ChangeKind.MIXED
    assert change.rows == 11
    assert change.has_feed


def test_another_table_under_the_same_name_is_replaced(written: WrittenLog) -> None:
    """A table dropped and made again is told by its id, whatever its versions."""
    written.create()
    written.append("a", rows=8)
    change = captured(written, 7, table_id="the-old-one")
    assert change.kind is ChangeKind.REPLACE
    assert codes(change) == ["SOURCE_RECREATED"]
    assert change.table_id == "table-1"


def test_a_table_replaced_and_restored_is_replaced(written: WrittenLog) -> None:
    """An id that comes back at the end of a window does not hide that it was another one."""
    written.create()
    written.table_id = "in-between"
    written.commit(written.metadata("id:long,v:integer"), operation="CREATE OR REPLACE TABLE")
    written.table_id = "table-1"
    written.commit(written.metadata("id:long,v:integer"), operation="RESTORE")
    change = captured(written, 0)
    assert change.kind is ChangeKind.REPLACE
    assert codes(change) == ["SOURCE_RECREATED"]


def test_a_source_that_went_back_is_a_gap(written: WrittenLog) -> None:
    """A log that ends before what the view has read, as after a backup, is no continuation."""
    written.create()
    written.append("a")
    assert codes(captured(written, 5)) == ["SOURCE_REWOUND"]
    assert codes(captured(written, 0, up_to=5)) == ["SOURCE_REWOUND"]
    assert captured(written, 5).kind is ChangeKind.GAP


def test_missing_commits_are_a_gap(written: WrittenLog) -> None:
    """A window with a commit cleaned up is a gap: what it did is not guessed."""
    written.create()
    written.append("a")
    written.append("b")
    written.checksum()
    written.file(1).unlink()
    change = captured(written, 0)
    assert change.kind is ChangeKind.GAP
    assert codes(change) == ["HISTORY_GONE"]
    assert not change.has_feed
    assert change.rows is None


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ("id:long,v:integer,w:string", ChangeKind.NONE),
        ("v:integer,id:long", ChangeKind.NONE),
        ("id:long,v:long", ChangeKind.GAP),
        ("id:long", ChangeKind.GAP),
        ("id:long,v2:integer", ChangeKind.GAP),
    ],
)
def test_only_used_columns_make_a_gap(written: WrittenLog, columns: str, kind: ChangeKind) -> None:
    """Added and moved columns are passed over; a used one dropped, renamed or retyped is a gap."""
    written.create()
    written.commit(written.metadata(columns), operation="ALTER")
    change = captured(written, 0)
    assert change.kind is kind
    assert codes(change) == (["SCHEMA_CHANGED"] if kind is ChangeKind.GAP else [])


def test_a_used_column_that_only_now_appears_is_a_gap(written: WrittenLog) -> None:
    """A column the view reads but the older version has not cannot be followed."""
    written.create("id:long")
    written.commit(written.metadata("id:long,v:integer"), operation="ADD COLUMNS")
    assert codes(captured(written, 0)) == ["SCHEMA_CHANGED"]
    assert captured(written, 0, used_columns=None).kind is ChangeKind.NONE


def test_unused_columns_lost_close_the_feed_only(written: WrittenLog) -> None:
    """Delta refuses the feed across a dropped column even if the view never read it."""
    written.create("id:long,v:integer,w:string")
    written.append("a")
    written.commit(written.metadata("id:long,v:integer"), operation="DROP COLUMNS")
    change = captured(written, 0)
    assert change.kind is ChangeKind.APPEND
    assert not change.has_feed
    assert change.has_snapshot
    assert codes(change) == ["FEED_SCHEMA_CHANGED"]


def test_columns_lost_after_the_window_close_the_feed(written: WrittenLog) -> None:
    """Delta reads a feed with the newest columns, so a later loss closes an older window too."""
    written.create("id:long,v:integer,w:string")
    written.append("a")
    written.commit(written.metadata("id:long,v:integer"), operation="WRITE")
    assert codes(captured(written, 0, up_to=1)) == ["FEED_SCHEMA_CHANGED"]


def test_an_added_column_is_noted(written: WrittenLog) -> None:
    """Rows from before an added column show it as NULL; the window says so and stays open."""
    written.create()
    written.append("a")
    written.commit(written.metadata("id:long,v:integer,w:string"), operation="ADD COLUMNS")
    written.append("b")
    change = captured(written, 0)
    assert change.kind is ChangeKind.APPEND
    assert change.has_feed
    assert codes(change) == ["COLUMN_ADDED"]


OFF: dict[str, str] = {}


def test_a_feed_that_is_off_is_told(written: WrittenLog) -> None:
    """Without a feed the rows that came are still those of the files that were added."""
    written.create(**{"delta.enableChangeDataFeed": "false"})
    written.append("a")
    change = captured(written, 0)
    assert change.kind is ChangeKind.APPEND
    assert change.has_feed
    assert codes(change) == ["FEED_OFF"]


def test_rows_that_went_need_a_feed(written: WrittenLog) -> None:
    """Without a feed the planner compares snapshots as soon as a row went."""
    written.create(**{"delta.enableChangeDataFeed": "false"})
    written.append("a")
    (written.folder / "a").touch()
    written.commit(written.remove("a"), operation="DELETE")
    change = captured(written, 1)
    assert change.kind is ChangeKind.MIXED
    assert not change.has_feed
    assert change.has_snapshot
    assert codes(change) == ["FEED_OFF"]


def test_a_feed_switched_off_inside_the_window_is_told(written: WrittenLog) -> None:
    """Off and on again inside a window leaves a hole in the feed."""
    written.create()
    written.commit(written.metadata("id:long,v:integer", OFF), operation="SET TBLPROPERTIES")
    written.commit(written.metadata("id:long,v:integer"), operation="SET TBLPROPERTIES")
    written.append("a")
    assert codes(captured(written, 0)) == ["FEED_OFF"]
    assert captured(written, 1).has_feed
    assert captured(written, 2).has_feed


def test_a_feed_switched_on_by_the_first_commit_is_whole(written: WrittenLog) -> None:
    """The commit that switches the feed on is already part of it."""
    written.create(**{"delta.enableChangeDataFeed": "false"})
    written.commit(written.metadata("id:long,v:integer"), operation="SET TBLPROPERTIES")
    written.append("a")
    assert captured(written, 0).has_feed


def test_switching_the_mapping_off_is_a_gap(written: WrittenLog) -> None:
    """A changed mapping mode moves the columns inside the files."""
    written.create(**{"delta.columnMapping.mode": "name"})
    written.commit(written.metadata("id:long,v:integer"), operation="REMOVE COLUMN MAPPING")
    change = captured(written, 0)
    assert change.kind is ChangeKind.GAP
    assert codes(change) == ["COLUMN_MAPPING_CHANGED"]


def updated(written: WrittenLog, *change_files: str) -> None:
    """A table of one file, then an update that exchanges it."""
    written.create()
    written.append("old")
    files = [{"cdc": {"path": name, "size": 9, "dataChange": False}} for name in change_files]
    written.commit(written.remove("old"), written.add("new"), *files, operation="UPDATE")
    put(written, "old", "new")


def test_vacuumed_files_close_their_way(written: WrittenLog) -> None:
    """Change files gone: compare snapshots; old files gone: only the feed; both gone: a gap."""
    updated(written, "_change_data-1")
    put(written, "_change_data-1")
    assert codes(captured(written, 1)) == []
    (written.folder / "old").unlink()
    change = captured(written, 1)
    assert (change.kind, change.has_feed, change.has_snapshot) == (ChangeKind.MIXED, True, False)
    put(written, "old")
    (written.folder / "_change_data-1").unlink()
    change = captured(written, 1)
    assert (change.kind, change.has_feed, change.has_snapshot) == (ChangeKind.MIXED, False, True)
    (written.folder / "old").unlink()
    change = captured(written, 1)
    assert change.kind is ChangeKind.GAP
    assert codes(change) == ["FILES_VACUUMED"]


def test_files_with_escaped_names_are_found(written: WrittenLog) -> None:
    """File names stand in the log with escapes and on the disk without."""
    written.create()
    written.append("a%20b%2525")
    written.commit(written.remove("a%20b%2525"), operation="DELETE")
    put(written, "a b%25")
    assert captured(written, 1).has_feed


def test_a_cleaned_up_log_closes_the_old_snapshot(written: WrittenLog) -> None:
    """Commits of the window alone do not make the older version readable."""
    written.create()
    written.append("a")
    written.append("b")
    written.checksum()
    written.file(0).unlink()
    change = captured(written, 1)
    assert (change.kind, change.has_feed, change.has_snapshot) == (ChangeKind.APPEND, True, False)
    assert codes(change) == ["SNAPSHOT_GONE"]


def test_columns_that_are_no_longer_known_are_a_gap(written: WrittenLog) -> None:
    """If the older version's columns cannot be found, nobody can say that they are the same."""
    written.create()
    written.append("a")
    written.commit(written.metadata("id:long,v:integer"), operation="SET TBLPROPERTIES")
    written.checksum()
    written.file(0).unlink()
    assert codes(captured(written, 1)) == ["HISTORY_GONE"]


def test_deletion_vector_files_are_named_as_delta_does() -> None:
    """The encoded id of a deletion vector is the name of its file."""
    stored = {"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "offset": 4}
    expected = "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
    assert vector_path(stored) == expected
    assert vector_path({"storageType": "i", "pathOrInlineDv": "wi5b=000010000"}) is None


def test_files_elsewhere_are_taken_on_trust(written: WrittenLog) -> None:
    """A shallow clone's files in another store are not looked for."""
    written.create()
    written.append("s3://bucket/a")
    written.commit(written.remove("s3://bucket/a"), operation="DELETE")
    assert captured(written, 1).has_feed
    written.append(f"file:{Path(__file__)}")
    written.commit(written.remove(f"file:{Path(__file__)}"), operation="DELETE")
    assert captured(written, 1).has_feed
