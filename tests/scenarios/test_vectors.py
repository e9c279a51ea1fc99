"""Large files that lose a few rows are marked, not written anew; readers see the same rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from headwater.capture.actions import live_rows
from headwater.capture.log import open_log
from headwater.commit import losses
from headwater.execute.delta import delta_log
from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import Lake

ROWS = 1300


@pytest.fixture(scope="module", autouse=True)
def few_rows_are_many() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(losses, "SMALL_ROWS", 200)
        patch.setattr(losses, "WORTH_ROWS", 1000)
        yield


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    rows = [(i, i % 1200, i % 7) for i in range(ROWS)]
    shared_lake.source("t", "id INT, k INT, v INT", rows)
    shared_lake.view("doubles", "SELECT k DIV 2 AS k, v FROM t WHERE v < 6")
    shared_lake.view("grouped", "SELECT k, sum(v) AS total, count(*) AS n FROM t GROUP BY k")
    shared_lake.view("least", "SELECT k, min(v) AS least FROM t WHERE k < 1190 GROUP BY k")
    shared_lake.view("behind", "SELECT n, total, count(*) AS groups FROM grouped GROUP BY n, total")
    shared_lake.view(
        "joined", "SELECT t.id, g.total FROM t JOIN grouped g ON t.k = g.k AND g.n > 1"
    )
    shared_lake.refresh()
    return shared_lake


def actions(lake: Lake, view: str, kind: str) -> list[dict[str, Any]]:
    """What the newest commit of a view says."""
    newest = max(lake._log(view))
    lines = [json.loads(line) for line in newest.read_text().splitlines()]
    return [line[kind] for line in lines if kind in line]


def files(lake: Lake, view: str) -> list[dict[str, Any]]:
    return [dict(file) for file in open_log(lake.path(view)).files(lake.version(view))]


def test_a_plain_table_until_it_pays(lake: Lake) -> None:
    """Whoever cannot read deletion vectors can read a view that does not need them."""
    assert not any(
        actions(lake, view, "protocol")[0].get("readerFeatures") for view in lake.queries
    )


def test_rows_go_by_marks(lake: Lake) -> None:
    """Deletes, updates and one of two equal rows, several times over the same files."""
    random = Random(1)
    for turn in range(3):
        for _ in range(2):
            first = random.randrange(ROWS)
            lake.change("t", delete=f"id BETWEEN {first} AND {first + 3}")
            lake.change("t", update={"v": "(v + 1) % 7"}, where=f"id % 97 = {first % 97}")
        lake.insert("t", *((ROWS + turn * 10 + i, first + i, 5) for i in range(10)))
        receipts = lake.refresh()
        assert receipts["doubles"].technique is Technique.DELTA
        assert receipts["grouped"].technique is Technique.MERGE
        lake.assert_right()
        for view in ("doubles", "grouped", "least"):
            vectors = [f["deletionVector"] for f in files(lake, view) if f.get("deletionVector")]
            assert vectors, view
            assert sum(v["cardinality"] for v in vectors) < ROWS // 9, view


def test_the_feed_tells_what_went(lake: Lake) -> None:
    """A marked row is told to followers once, as what it was."""
    version = lake.version("grouped")
    lake.change("t", delete="id = 777")
    lake.refresh()
    feed = (
        lake.spark.read.format("delta")
        .option("readChangeFeed", "true")
        .option("startingVersion", version + 1)
        .load(lake.path("grouped"))
    )
    told = feed.where("k = 777").collect()
    assert feed.count() == len(told)
    assert [row["_change_type"] for row in told] == ["delete"]
    lake.assert_right("behind")


def test_marks_are_read_from_a_checkpoint(lake: Lake) -> None:
    """The log's commits and checksums may be gone; then a checkpoint tells which rows are."""
    for view in ("doubles", "grouped"):
        delta_log(lake.spark, lake.path(view)).checkpoint()
        for checksum in Path(lake.path(view), "_delta_log").glob("*.crc"):
            checksum.unlink()
    lake.reopen()
    lake.change("t", delete="id BETWEEN 300 AND 309")
    lake.refresh()
    lake.assert_right()


def test_small_files_do_not_pile_up(lake: Lake) -> None:
    """Each refresh adds a small file; several of them become one."""
    for turn in range(12):
        lake.change("t", update={"v": "(v + 1) % 7"}, where=f"id % 201 = {turn}")
        lake.refresh("doubles", "grouped")
    assert len(files(lake, "doubles")) < 12
    assert len(files(lake, "grouped")) < 12
    lake.assert_right("doubles", "grouped")


def test_many_dead_rows_are_swept(lake: Lake) -> None:
    """A large file with more than a fifth of its rows dead is written anew."""
    lake.change("t", delete="id % 10 < 3")
    lake.refresh()
    left = files(lake, "grouped")
    large = [f for f in left if (live_rows(f) or 0) >= losses.SMALL_ROWS]
    assert large
    assert not any(f.get("deletionVector") for f in large)
    assert sum(live_rows(f) or 0 for f in left) == lake.hw.table("grouped").count()
    lake.assert_right()


def test_who_forbids_marks_gets_none(lake: Lake) -> None:
    """The table's own property has the last word."""
    off = "SET TBLPROPERTIES (delta.enableDeletionVectors = false)"
    lake.run(f"ALTER TABLE {{doubles}} {off}")
    lake.change("t", delete="id BETWEEN 53 AND 59")
    lake.refresh("doubles")
    assert not actions(lake, "doubles", "add")[0].get("deletionVector")
    lake.assert_right("doubles")
