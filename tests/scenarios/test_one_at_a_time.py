"""One refresh per view, exactly at the versions it names."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from headwater.vocabulary.errors import AsOfBelowFrontier, RefreshRunning, WrongUse
from headwater.vocabulary.receipt import AttemptState
from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import Lake, bag


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    shared_lake.source("t", "k STRING, v INT", [("a", 1), ("b", 2)])
    shared_lake.view("sums", "SELECT k, sum(v) AS s, count(*) AS n FROM t GROUP BY k")
    return shared_lake


def test_second_refresh_is_refused_at_once(lake: Lake) -> None:
    """S21: while one refresh runs a second is refused with the id of the first, which goes on."""
    reached, go_on = threading.Event(), threading.Event()

    def hold(step: str) -> None:
        if step == "plan":
            reached.set()
            assert go_on.wait(60)

    lake.run("INSERT INTO {t} VALUES ('a', 10)")
    lake.on_step = hold
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(lake.hw.refresh, "sums")
        assert reached.wait(60)
        (running,) = (a.id for a in lake.hw.history("sums") if a.state is AttemptState.RUNNING)
        with pytest.raises(RefreshRunning, match=running):
            lake.hw.refresh("sums")
        assert lake.hw.status()[0].running == running
        lake.on_step = lambda _step: None
        go_on.set()
        receipt = first.result(60)
    assert receipt.attempt == running
    lake.assert_right("sums")
    assert lake.hw.status()[0].running is None
    assert lake.hw.refresh("sums").technique is Technique.SKIP


@pytest.mark.parametrize("step", ["capture", "plan", "commit"])
def test_commit_after_the_pin_is_in_the_next_refresh(lake: Lake, step: str) -> None:
    """S22: a source commit between pin and read is in the next refresh, once."""
    lake.run("INSERT INTO {t} VALUES ('b', 1)")
    pinned, seen = lake.version("t"), lake.recomputed("sums")["sums"]

    def late(reached: str) -> None:
        if reached == step:
            lake.on_step = lambda _step: None
            lake.run("UPDATE {t} SET v = v + 1 WHERE k = 'b'")

    lake.on_step = late
    receipt = lake.hw.refresh("sums")
    assert receipt.frontier["t"].version == pinned
    assert lake.version("t") == pinned + 1
    assert lake.content("sums") == seen
    assert lake.hw.verify("sums").equal
    assert lake.hw.refresh("sums").frontier["t"].version == pinned + 1
    lake.assert_right("sums")


def test_as_of(lake: Lake) -> None:
    """S23: AS OF below is an error, equal a no-op success, above applies just that window."""
    start = lake.hw.refresh("sums").frontier["t"].version
    kept = lake.content("sums")
    wanted = {}
    for step in range(1, 4):
        lake.run(f"INSERT INTO {{t}} VALUES ('step', {step}), ('new{step}', {step})")
        wanted[start + step] = lake.recomputed("sums")["sums"]

    with pytest.raises(AsOfBelowFrontier):
        lake.hw.refresh("sums", as_of=start - 1)
    assert lake.content("sums") == kept
    equal = lake.hw.refresh("sums", as_of=start)
    assert (equal.technique, equal.rows_inserted) == (Technique.SKIP, 0)
    assert lake.content("sums") == kept

    for version, content in wanted.items():
        receipt = lake.hw.refresh("sums", as_of=version)
        assert receipt.frontier["t"].version == version
        assert lake.content("sums") == content
        assert lake.hw.verify("sums").equal
    with pytest.raises(WrongUse, match="no version"):
        lake.hw.refresh("sums", as_of=lake.version("t") + 1)
    lake.assert_right("sums")


def test_as_of_in_sql(lake: Lake) -> None:
    """S23: the statement means the same as the call, and many windows at once lose nothing."""
    start = lake.hw.refresh("sums").frontier["t"].version
    lake.run("DELETE FROM {t} WHERE k = 'a'", "INSERT INTO {t} VALUES ('a', 5)")
    middle = lake.recomputed("sums")["sums"]
    lake.run("UPDATE {t} SET k = 'moved' WHERE k = 'a'")
    lake.hw.sql(f"REFRESH MATERIALIZED VIEW sums AS OF VERSION {start + 2}")
    assert lake.content("sums") == middle
    lake.hw.refresh("sums")
    lake.assert_right("sums")


def test_failed_attempt_leaves_the_view_free(lake: Lake) -> None:
    """S21: a refresh that breaks down gives its claim back and is closed in the history."""
    lake.run("INSERT INTO {t} VALUES ('z', 1)")
    before = lake.content("sums")

    def fail(step: str) -> None:
        if step == "commit":
            raise OSError("no space left on device")

    lake.on_step = fail
    with pytest.raises(OSError, match="no space"):
        lake.hw.refresh("sums")
    lake.on_step = lambda _step: None
    assert lake.hw.history("sums")[0].state is AttemptState.FAILED
    assert bag(lake.hw.table("sums").collect()) == before
    lake.hw.refresh("sums")
    lake.assert_right("sums")
