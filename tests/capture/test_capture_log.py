"""Reading a log file by file: versions, states, and what is no longer there."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.capture.listing import listing_of
from headwater.capture.log import TableLog, open_log
from headwater.capture.memory import LogMemory
from headwater.capture.storage import LocalFiles, Signature, StoreFiles
from headwater.vocabulary.errors import (
    HistoryGone,
    SourceUnreachable,
    SourceUnreadable,
    SourceUnsupported,
)

if TYPE_CHECKING:
    from conftest import WrittenLog


def test_the_newest_version_is_seen_at_once(written: WrittenLog) -> None:
    """A reader that has looked before still sees each new commit, few or many."""
    log = written.log
    assert not log.exists()
    written.create()
    assert log.latest_version() == 0
    for count in (1, 2, 40):
        for _ in range(count):
            written.append("f")
        assert log.latest_version() == written.version


def test_a_table_made_again_is_noticed(write_log: Any, tmp_path: Path) -> None:
    """At the same path with as many versions, another table is known by its own id."""
    log = open_log(str(tmp_path / "t"))
    for table_id in ("first", "second"):
        made = write_log(tmp_path / "t", table_id)
        made.create()
        made.append(f"{table_id}.parquet", rows=3)
        assert log.latest_version() == 1
        assert log.metadata().table_id == table_id
        assert log.commit(1).transaction_id == f"{table_id}-1"
        shutil.rmtree(made.folder)
    assert not log.exists()


@pytest.mark.parametrize("address", ["{}", "file:{}", "file://{}"])
def test_file_addresses_are_folders(written: WrittenLog, address: str) -> None:
    """A path and the `file:` addresses of it are one table."""
    written.create()
    log = open_log(address.format(written.folder))
    assert log.is_local
    assert log.location == str(written.folder)
    assert log.latest_version() == 0


def test_what_is_no_table_says_so(tmp_path: Path) -> None:
    """A missing folder and a folder without a log are told apart, with the path."""
    with pytest.raises(SourceUnreadable, match="no such folder"):
        open_log(str(tmp_path / "nowhere")).latest_version()
    with pytest.raises(SourceUnreadable, match="no Delta table"):
        open_log(str(tmp_path)).metadata()
    assert not open_log(str(tmp_path)).exists()


def test_a_log_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """Trouble with the folder is never taken for an absent table."""
    (tmp_path / "_delta_log").symlink_to("_delta_log")
    with pytest.raises(SourceUnreadable, match="may not be read"):
        open_log(str(tmp_path)).exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_log_without_permission_is_an_error(written: WrittenLog) -> None:
    """A log that may not be read names the permission, not an absent table."""
    written.create()
    written.path.chmod(0)
    with pytest.raises(SourceUnreadable, match="Permission"):
        written.log.latest_version()
    written.path.chmod(0o755)


def test_a_damaged_commit_is_named(written: WrittenLog) -> None:
    """A commit cut short is reported with its version, never skipped."""
    written.create()
    written.append("f")
    written.file(1).write_text('{"add": {"path"')
    with pytest.raises(SourceUnreadable, match="version 1 is damaged"):
        written.log.commit(1)


def test_missing_commits_are_named(written: WrittenLog) -> None:
    """Commits that were cleaned up are listed, and asking for them is an error."""
    written.create()
    for name in "abcd":
        written.append(name)
    written.file(0).unlink()
    written.file(2).unlink()
    assert written.log.missing(0, 4) == (2,)
    assert written.log.earliest_commit() == 1
    with pytest.raises(HistoryGone, match="version 2"):
        written.log.commits(0, 4)


def test_metadata_is_found_further_back(written: WrittenLog) -> None:
    """Without a checksum the last metadata action before a version is the one that holds."""
    written.create("a:long")
    written.append("f")
    written.commit(written.metadata("a:long,b:string"), operation="ADD COLUMNS")
    written.append("g")
    assert written.log.metadata(1).columns == ("a",)
    assert written.log.metadata().columns == ("a", "b")
    with pytest.raises(HistoryGone):
        written.log.metadata(9)


def test_versions_that_have_the_same_header_share_one(written: WrittenLog) -> None:
    """A table of many columns and versions is described in memory once."""
    written.create()
    written.append("a")
    written.append("b")
    log = written.log
    assert log.header(1) is log.header(2)
    assert log.header(2).metadata == log.metadata()


def test_headers_that_differ_deep_within_a_type_are_two(written: WrittenLog) -> None:
    """Rows are read by the schema's text; whether a field may be NULL stands nowhere else."""
    written.create()
    log, texts = written.log, []
    for nullable in (False, True):
        field = {"name": "a", "type": "integer", "nullable": nullable, "metadata": {}}
        struct = {"type": "struct", "fields": [field]}
        column = {"name": "st", "type": struct, "nullable": True, "metadata": {}}
        texts.append(json.dumps({"type": "struct", "fields": [column]}))
        action = written.metadata("x:long")
        action["metaData"]["schemaString"] = texts[-1]
        written.commit(action)
    assert [log.header(v).metadata.schema_text for v in (1, 2)] == texts


def test_a_checksum_answers_for_its_commit(written: WrittenLog) -> None:
    """A checksum that names its commit's transaction answers without the older commits."""
    written.create()
    written.append("f")
    written.checksum(written.add("f", 3), columns="from_checksum:long")
    written.file(0).unlink()
    assert written.log.metadata().columns == ("from_checksum",)
    assert written.log.transaction_version("app") == 4
    assert written.log.transaction_version("other") is None
    assert written.log.statistics().rows == 3


@pytest.mark.parametrize("damage", ["another", "cut"])
def test_a_foreign_checksum_is_not_believed(written: WrittenLog, damage: str) -> None:
    """A checksum left by another commit of that version, or cut short, is as good as none."""
    written.create()
    written.append("f", rows=10)
    transaction = "table-0-1" if damage == "another" else ""
    file = written.checksum(written.add("f", 3), columns="c:long", transaction=transaction)
    if damage == "cut":
        file.write_text(file.read_text()[:-20])
    assert written.log.metadata().columns == ("id", "v")
    assert written.log.statistics().rows == 10
    assert written.log.transaction_version("app") is None


def test_a_checksum_without_files_leaves_rows_to_the_commits(written: WrittenLog) -> None:
    """The checksum of a table of many files tells no rows; they are counted file by file."""
    written.create()
    written.append("f", rows=10)
    written.checksum(written.add("f", 10))
    written.append("g", rows=5)
    written.checksum()
    assert written.log.statistics().rows == 15


def test_transactions_are_found_further_back(written: WrittenLog) -> None:
    """The newest transaction of an application counts, however many commits ago."""
    written.create()
    for version in (1, 2):
        written.commit({"txn": {"appId": "app", "version": version}})
    written.append("f")
    assert written.log.transaction_version("app") == 2
    assert written.log.transaction_version("nobody") is None


def test_statistics_follow_deletion_vectors(written: WrittenLog) -> None:
    """Rows under a deletion vector do not count; a file without statistics makes rows unknown."""
    written.create()
    written.append("f", rows=10)
    vector = {"storageType": "u", "pathOrInlineDv": "x" * 20, "offset": 1, "cardinality": 4}
    again = written.add("f", 10)
    again["add"]["deletionVector"] = vector
    written.commit(written.remove("f"), again, operation="DELETE")
    assert written.log.statistics(1).rows == 10
    assert written.log.statistics(2).rows == 6
    written.commit({"add": {"path": "g", "size": 5, "dataChange": True}})
    assert written.log.statistics().rows is None
    assert written.log.statistics().files == 2


def test_catalog_managed_tables_are_refused(written: WrittenLog) -> None:
    """A table whose newest commits may lie in a catalog is refused by its log already."""
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["catalogManaged"]}
    written.commit({"protocol": protocol}, written.metadata("a:long"))
    with pytest.raises(SourceUnsupported):
        written.log.metadata()


def test_checkpoints_count_when_they_are_whole() -> None:
    """Of a checkpoint in parts all parts must be there; compacted commits are left aside."""
    name = "{:020d}.checkpoint".format
    listing = listing_of(
        [
            *(f"{v:020d}.json" for v in range(4, 9)),
            f"{name(3)}.parquet",
            f"{name(5)}.0000000001.0000000002.parquet",
            f"{name(6)}.0000000001.0000000002.parquet",
            f"{name(6)}.0000000002.0000000002.parquet",
            f"{name(7)}.80a083e8-7026-4e79-81be-64bd76c43a11.json",
            "00000000000000000000.00000000000000000008.compacted.json",
            "_last_checkpoint",
        ]
    )
    assert [c.version for c in listing.checkpoints] == [3, 6, 7]
    assert listing.commits == (4, 5, 6, 7, 8)
    assert listing.can_rebuild(5)
    assert listing.can_rebuild(8)
    assert not listing.can_rebuild(2)


def test_a_store_is_read_like_a_folder(written: WrittenLog) -> None:
    """The same table through a store's client gives the same commits and states."""
    written.create()
    written.append("f", rows=2)
    here = TableLog(LocalFiles(str(written.folder)), LogMemory())
    there = TableLog(StoreFiles(f"file://{written.folder}"), LogMemory())
    assert not there.is_local
    assert there.exists()
    assert there.latest_version() == here.latest_version() == 1
    assert there.commits(-1, 1) == here.commits(-1, 1)
    assert there.metadata() == here.metadata()
    assert there.statistics() == here.statistics()
    assert there.missing(0, 2) == (2,)
    assert not there.holds("f")


def test_a_store_that_cannot_be_reached_is_an_error(tmp_path: Path) -> None:
    """An address nothing answers at is a coded error with the address."""
    with pytest.raises(SourceUnreadable, match="cannot be read"):
        TableLog(StoreFiles(f"file://{tmp_path}/nowhere")).latest_version()
    with pytest.raises(SourceUnreachable, match="cannot be read") as raised:
        open_log("nonsense://bucket/t").latest_version()
    assert raised.value.is_temporary


def test_a_disk_that_does_not_answer_may_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S65: an error of the disk is temporary, a permission that lacks is not."""

    def broken(number: int) -> Callable[..., object]:
        def stat(path: object) -> object:
            raise OSError(number, os.strerror(number))

        return stat

    files = LocalFiles(str(tmp_path))
    for number, temporary in ((errno.EIO, True), (errno.ESTALE, True), (errno.EACCES, False)):
        with monkeypatch.context() as patched:
            patched.setattr("headwater.capture.storage.os.stat", broken(number))
            with pytest.raises(SourceUnreadable) as raised:
                files.signature("x")
        assert raised.value.is_temporary is temporary


def test_memory_is_bounded() -> None:
    """What is remembered of logs has a limit; the least recently used goes first."""
    memory, signature = LogMemory(limit=2), Signature(1, 1)
    for key in ("a", "b"):
        memory.put(key, signature, key)
    memory.get("a", signature)
    memory.put("c", signature, "c")
    assert len(memory) == 2
    assert memory.get("b", signature) is None
    assert memory.get("a", signature) == "a"
    assert memory.get("a", Signature(1, 2)) is None


def test_a_quiet_look_loads_nothing_heavy(written: WrittenLog) -> None:
    """Finding that nothing changed needs neither Spark nor a store's client."""
    written.create()
    written.append("f")
    program = f"""
import sys
from headwater.capture.changes import capture_changes
from headwater.capture.log import open_log
from headwater.capture.view_log import committed_state
from headwater.capture.window import Limits, bounded_window
from headwater.vocabulary.frontier import SourceVersion
log = open_log({str(written.folder)!r})
capture_changes(log, source="s", since=SourceVersion("table-1", 0), up_to=1)
committed_state(log)
bounded_window(log, 0, 1, Limits())
print([m for m in ("pyspark", "deltalake", "pyarrow", "pandas", "sqlglot") if m in sys.modules])
"""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=root
    )
    assert done.stdout.strip() == "[]"
