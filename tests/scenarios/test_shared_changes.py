"""Views that are refreshed together read a change of a source once."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from headwater.execute import reading, relations, shared_changes
from headwater.vocabulary.receipt import AttemptState
from tests.scenarios.lake import Lake

VIEWS = {
    "sums": "SELECT k, sum(v) AS s, count(*) AS n FROM t GROUP BY k",
    "large": "SELECT id, v FROM t WHERE v > 50",
    "names": "SELECT DISTINCT k FROM t",
}
"""Each with other columns."""


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    rows = [(n, f"k{n % 5}", n) for n in range(20)]
    shared_lake.source("t", "id INT, k STRING, v INT", rows)
    for name, query in VIEWS.items():
        shared_lake.view(name, query)
    return shared_lake


class Reads:
    """Counts how often a source's change was read, by windows."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.windows: list[tuple[int, int]] = []
        original = reading.feed_rows

        def counted(session: Any, table: Any, step: Any) -> Any:
            self.windows.append((step.after, step.up_to))
            return original(session, table, step)

        patched.setattr(reading, "feed_rows", counted)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    return Reads(monkeypatch)


def test_one_read_for_all(lake: Lake, reads: Reads) -> None:
    """Inserts, and then all kinds of changes in one window, are read once for those that can."""
    lake.insert("t", (100, "k1", 70), (101, "new", 1))
    lake.refresh("sums", "large", "names")
    assert len(reads.windows) == 1
    lake.assert_right("sums", "large", "names", verify=())
    random = Random(7)
    for _ in range(2):
        for _ in range(2):
            lake.change("t", update={"v": f"v + {random.randint(-40, 40)}"}, where="id % 3 = 0")
        lake.change("t", update={"k": "'moved'"}, where=f"id = {random.randint(0, 19)}")
        lake.change("t", delete=f"id = {random.randint(0, 19)}")
        lake.insert("t", (random.randint(0, 19), "k2", 60))
        reads.windows.clear()
        lake.refresh("sums", "large", "names")
        assert len(reads.windows) == 1
        lake.assert_right("sums", "large", "names", verify=())


def test_another_frontier_is_another_read(lake: Lake, reads: Reads) -> None:
    """A view that is further on than the others has a window of its own."""
    lake.refresh()
    lake.insert("t", (200, "k1", 70))
    lake.refresh("sums")
    lake.insert("t", (201, "k1", 71))
    reads.windows.clear()
    lake.refresh()
    last = lake.version("t")
    assert sorted(reads.windows) == [(last - 2, last), (last - 1, last)]
    lake.assert_right(verify=())


def test_what_is_not_held_outside_of_spark_is_read_alone(lake: Lake, reads: Reads) -> None:
    """A column of such a type is left out of the shared read, and its view reads for itself."""
    table = f"delta.`{lake.folder / 'data' / 'maps'}`"
    lake.spark.sql(
        f"CREATE TABLE {table} (id INT, v INT, m MAP<STRING, INT>) USING delta "
        "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    )
    lake.register("maps")
    lake.view("plain", "SELECT id, v FROM maps")
    lake.view("mapped", "SELECT id, m['a'] AS a FROM maps")
    lake.view("doubled", "SELECT id, v * 2 AS d FROM maps")
    lake.run("INSERT INTO {maps} VALUES (1, 2, map('a', 3)), (4, 5, NULL)")
    reads.windows.clear()
    lake.refresh("plain", "mapped", "doubled")
    assert len(reads.windows) == 2
    lake.assert_right("plain", "mapped", "doubled", verify=())


def test_too_many_rows_are_not_held(
    lake: Lake, reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More rows than may be held are read by each view, with its own columns."""
    lake.refresh()
    monkeypatch.setattr(relations, "SMALL_ROWS", 1)
    lake.insert("t", (300, "k1", 70), (301, "k2", 80))
    reads.windows.clear()
    lake.refresh("sums", "large")
    assert len(reads.windows) == 3
    lake.assert_right("sums", "large", verify=())


def test_a_shared_read_that_fails_harms_nobody(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each view then reads for itself."""
    lake.refresh()

    def broken(*_: object) -> None:
        raise OSError("no memory for it")

    monkeypatch.setattr(shared_changes, "_collected", broken)
    lake.insert("t", (400, "k1", 70))
    lake.refresh("sums", "large")
    assert lake.hw.history("sums")[0].state is AttemptState.SUCCEEDED
    lake.assert_right("sums", "large", verify=())


def test_what_a_view_wrote_is_not_read_again(lake: Lake, reads: Reads) -> None:
    """Views that follow one get its rows from its refresh, whatever its columns are called."""
    lake.view("counts", "SELECT k, count(*), max(v) AS top, avg(v) AS mean FROM t GROUP BY k")
    lake.view("often", "SELECT k, `count(1)` AS n FROM counts WHERE `count(1)` > 2")
    lake.view("highest", "SELECT max(top) AS top, count(*) AS groups, sum(mean) AS s FROM counts")
    together = ("counts", "often", "highest")
    lake.refresh(*together)
    for change in (
        lambda: lake.insert("t", (500, "k1", 99), (501, "k1", 2), (502, "k9", 1)),
        lambda: lake.change("t", delete="id = 500"),
        lambda: lake.change("t", update={"k": "'k8'"}, where="k = 'k9'"),
        lambda: lake.insert("t", (503, "quite new", None)),
    ):
        change()
        reads.windows.clear()
        lake.refresh(*together)
        assert len(reads.windows) == 1
        lake.assert_right(*together, verify=())


def test_what_another_refresh_wrote_is_read(lake: Lake, reads: Reads) -> None:
    """A window of two commits is more than what the last of them wrote."""
    lake.refresh()
    lake.insert("t", (600, "k1", 9))
    lake.refresh("counts")
    lake.insert("t", (601, "k2", 9))
    reads.windows.clear()
    lake.refresh("counts", "often")
    assert len(reads.windows) == 2
    lake.assert_right("counts", "often", verify=())
