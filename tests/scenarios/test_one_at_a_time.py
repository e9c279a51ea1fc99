"""One refresh per view, exactly at the versions it names."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import headwater
from headwater.attempt import landing
from headwater.store.views import Views
from headwater.vocabulary.errors import (
    AsOfBelowFrontier,
    CommitUnsettled,
    FrontierUnsettled,
    InternalError,
    LedgerUnreachable,
    RefreshFenced,
    RefreshRunning,
    WrongUse,
)
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

    lake.insert("t", ("a", 10))
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


def test_the_state_always_returns_to_idle(lake: Lake) -> None:
    """S48: IDLE, REFRESHING, FINISHING, IDLE, as anybody sees it who asks meanwhile."""
    seen: dict[str, str] = {}
    lake.insert("t", ("a", 11))
    lake.on_step = lambda step: seen.update({step: lake.hw.status()[0].refresh})
    assert lake.hw.status()[0].refresh == "IDLE"
    lake.hw.refresh("sums")
    lake.on_step = lambda _step: None
    assert (seen["capture"], seen["commit"]) == ("REFRESHING", "REFRESHING")
    assert seen["committed"] == "FINISHING"
    assert lake.hw.status()[0].refresh == "IDLE"


@pytest.mark.parametrize("step", ["capture", "plan", "commit"])
def test_commit_after_the_pin_is_in_the_next_refresh(lake: Lake, step: str) -> None:
    """S22: a source commit between pin and read is in the next refresh, once."""
    lake.insert("t", ("b", 1))
    pinned, seen = lake.version("t"), lake.recomputed("sums")["sums"]

    def late(reached: str) -> None:
        if reached == step:
            lake.on_step = lambda _step: None
            lake.change("t", update={"v": "v + 1"}, where="k = 'b'")

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
        lake.insert("t", ("step", step), (f"new{step}", step))
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
    lake.change("t", delete="k = 'a'")
    lake.insert("t", ("a", 5))
    middle = lake.recomputed("sums")["sums"]
    lake.change("t", update={"k": "'moved'"}, where="k = 'a'")
    lake.hw.sql(f"REFRESH MATERIALIZED VIEW sums AS OF VERSION {start + 2}")
    assert lake.content("sums") == middle
    lake.hw.refresh("sums")
    lake.assert_right("sums")


def test_failed_attempt_leaves_the_view_free(lake: Lake) -> None:
    """S21: a refresh that breaks down gives its claim back and is closed in the history."""
    lake.insert("t", ("z", 1))
    before = lake.content("sums")

    def fail(step: str) -> None:
        if step == "commit":
            raise OSError("no space left on device")

    lake.on_step = fail
    with pytest.raises(InternalError, match="no space"):
        lake.hw.refresh("sums")
    lake.on_step = lambda _step: None
    assert lake.hw.history("sums")[0].state is AttemptState.FAILED
    assert bag(lake.hw.table("sums").collect()) == before
    lake.hw.refresh("sums")
    lake.assert_right("sums")


@pytest.mark.parametrize("step", ["plan", "commit"])
def test_the_fence_needs_no_ledger(lake: Lake, step: str) -> None:
    """S21: who commits in the middle of another's refresh, on a ledger of its own, fences it off.

    Both started from the same version; only the first may count its rows.
    """
    lake.insert("t", ("a", 3), ("new", 4))
    store = f"sqlite:///{lake.folder}/other-{step}.db"
    with headwater.open(lake.folder, store=store, spark=lake.spark) as other:

        def overtake(reached: str) -> None:
            if reached == step:
                lake.on_step = lambda _step: None
                assert other.refresh("sums").rows_inserted > 0

        lake.on_step = overtake
        with pytest.raises(RefreshFenced):
            lake.hw.refresh("sums")
    lake.assert_right("sums")
    assert lake.hw.refresh("sums").technique is Technique.SKIP


def test_a_ledger_that_goes_away_after_the_commit(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S21: what has landed is a success; the ledger learns of it by the next look at the view."""
    lake.insert("t", ("a", 9))

    def away(*_: object, **__: object) -> None:
        raise LedgerUnreachable("the database did not answer")

    with monkeypatch.context() as patched:
        patched.setattr(Views, "advance", away)
        receipt = lake.hw.refresh("sums")
    assert receipt.technique is not Technique.SKIP
    assert lake.hw.history("sums")[0].state is AttemptState.SUCCEEDED
    assert lake.hw.status()[0].frontier != receipt.frontier
    assert lake.hw.refresh("sums").technique is Technique.SKIP
    assert lake.hw.status()[0].frontier == receipt.frontier
    lake.assert_right("sums")


def test_a_log_that_does_not_answer_is_looked_at_later(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S27: a commit whose outcome cannot be learned is no success, and is not tried again blind."""
    lake.insert("t", ("a", 11))

    def away(*_: object) -> None:
        raise OSError("storage away")

    with monkeypatch.context() as patched:
        patched.setattr(landing, "find_attempt", away)
        with pytest.raises(CommitUnsettled, match="storage away"):
            lake.hw.refresh("sums")
    assert lake.hw.history("sums")[0].state is AttemptState.ORPHANED
    assert lake.hw.refresh("sums").technique is Technique.SKIP
    lake.assert_right("sums")


def test_a_bottom_is_never_a_mix(lake: Lake) -> None:
    """S22: a view that alone would meet two versions of one source is refused, told, and heals."""
    lake.view("above", "SELECT k, s FROM sums")
    lake.view("bottom", "SELECT t.k, t.v, above.s FROM t JOIN above ON t.k = above.k")
    lake.change("t", update={"v": "v + 1"}, where="k = 'b'")
    lake.hw.refresh("sums")
    before = lake.content("bottom")
    with pytest.raises(FrontierUnsettled, match="bottom would mix"):
        lake.hw.refresh("bottom", only=True)
    assert lake.content("bottom") == before
    lake.hw.refresh("bottom")
    lake.assert_right()


def test_another_process_defines_anew(lake: Lake) -> None:
    """S29: who knew the old definition follows the new one, and does not put the old one back."""
    lake.view("moving", "SELECT k, v FROM t")
    with lake.open() as other:
        assert other.refresh("moving").technique is Technique.SKIP
        query = "SELECT k, v + 1 AS w FROM t WHERE v > 1"
        lake.hw.sql(f"CREATE OR REPLACE MATERIALIZED VIEW moving POLICY INCREMENTAL AS {query}")
        lake.queries["moving"] = query
        lake.insert("t", ("a", 12))
        assert other.refresh("moving").technique is not Technique.REBUILD
        assert other.table("moving").columns == ["k", "w"]
    lake.assert_right("moving")
