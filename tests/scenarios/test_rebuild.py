"""Rebuilding: when, how, and what a fault in the middle leaves."""

from __future__ import annotations

import pytest

from headwater.vocabulary.errors import HeadwaterError, StrictRefused, TechniqueRefused
from headwater.vocabulary.receipt import AttemptState
from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import Lake, codes

FEED = "delta.enableChangeDataFeed"


class Fault(Exception):
    """Thrown into the middle of a refresh."""


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    rows = [(i, f"g{i % 4}", i) for i in range(12)]
    shared_lake.source("t", "id INT, k STRING, v INT", rows)
    shared_lake.view("flat", "SELECT id, k, v + 1 AS w FROM t WHERE v >= 0", "POLICY AUTO")
    return shared_lake


def test_by_difference_and_by_overwrite(lake: Lake) -> None:
    """S27: few differing rows are written by difference, many by overwrite: the same content."""
    lake.change("t", update={"v": "100"}, where="id = 1")
    by_difference = lake.hw.refresh("flat", technique="rebuild")
    assert (by_difference.rows_inserted, by_difference.rows_deleted) == (1, 1)
    lake.assert_right("flat")

    lake.change("t", update={"v": "v + 1"}, where=None)
    by_overwrite = lake.hw.refresh("flat", technique="rebuild")
    assert (by_overwrite.rows_inserted, by_overwrite.rows_deleted) == (12, 12)
    lake.assert_right("flat")


def test_a_view_whose_own_feed_is_off(lake: Lake) -> None:
    """Somebody may switch the feed of a view's table off: its rows are right all the same."""
    lake.spark.sql(f"ALTER TABLE {lake.place('flat')} SET TBLPROPERTIES ({FEED} = false)")
    lake.change("t", update={"v": "v + 1"}, where="id = 2")
    lake.refresh("flat")
    lake.assert_right("flat")
    lake.spark.sql(f"ALTER TABLE {lake.place('flat')} SET TBLPROPERTIES ({FEED} = true)")


def test_unchanged_data_is_not_written(lake: Lake) -> None:
    """S27: a rebuild on unchanged data writes nothing: not even a commit."""
    lake.refresh("flat")
    version = lake.version("flat")
    receipt = lake.hw.refresh("flat", full=True)
    assert receipt.technique is Technique.REBUILD
    assert (receipt.rows_inserted, receipt.rows_deleted) == (0, 0)
    assert lake.version("flat") == version


def test_fault_at_each_step_leaves_the_old(lake: Lake) -> None:
    """S27: a fault before the commit leaves content and frontier; one after it loses nothing."""
    lake.change("t", update={"v": "v + 1"}, where="id < 3")
    lake.told.clear()
    lake.hw.refresh("flat", full=True)
    steps = list(dict.fromkeys(lake.told))
    assert steps[0] == "capture"
    assert steps[-3:] == ["committed", "publish", "done"]
    for step in steps:
        _break_at(lake, step, landed=step in {"committed", "publish", "done"})
    lake.hw.refresh("flat")
    lake.assert_right("flat")


def _break_at(lake: Lake, step: str, *, landed: bool) -> None:
    def fail(reached: str) -> None:
        if reached == step:
            raise Fault(step)

    lake.change("t", update={"v": "v + 1"}, where="id < 3")
    before, expected = lake.content("flat"), lake.recomputed("flat")["flat"]
    frontier, version = lake.hw.status()[0].frontier, lake.version("flat")
    lake.on_step = fail
    with pytest.raises((Fault, HeadwaterError)):
        lake.hw.refresh("flat", full=True)
    lake.on_step = lambda _step: None
    state = AttemptState.SUCCEEDED if landed else AttemptState.FAILED
    assert lake.hw.history("flat")[0].state is state, step
    assert lake.version("flat") == version + landed, step
    assert lake.content("flat") == (expected if landed else before), step
    if not landed:
        assert lake.hw.status()[0].frontier == frontier, step
    assert lake.hw.status()[0].running is None, step


OUTSIDE = {
    "ranked": (
        "SELECT id, row_number() OVER (ORDER BY v, id) AS r FROM t QUALIFY r > 1",
        "WINDOW_UNPARTITIONED",
    ),
    "top": ("SELECT id, v FROM t ORDER BY v DESC, id OFFSET 1", "TOP_K"),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_outside_the_incremental_subset(lake: Lake, name: str) -> None:
    """S26: what cannot be followed is rebuilt and says why."""
    query, code = OUTSIDE[name]
    lake.view(name, query)
    lake.change("t", update={"v": "50 - v"}, where=None)

    explained = lake.hw.explain(name)
    assert explained.chosen is Technique.REBUILD
    assert code in {v.reason.code for v in explained.verdicts if not v.sound}
    receipt = lake.hw.refresh(name)
    assert receipt.technique is Technique.REBUILD
    assert code in codes(receipt)
    lake.assert_right(name)


@pytest.mark.parametrize("name", OUTSIDE)
def test_strict_takes_no_view_that_is_always_rebuilt(lake: Lake, name: str) -> None:
    """S26: under STRICT it is refused when it is defined, with the part and the reason."""
    query, code = OUTSIDE[name]
    part = {"ranked": "WINDOW(t)", "top": "TOPK(t)"}[name]
    strict = f"CREATE MATERIALIZED VIEW strict POLICY STRICT AS {query}"
    with pytest.raises(StrictRefused, match=code) as refused:
        lake.hw.sql(strict)
    assert part in str(refused.value)
    assert "strict" not in lake.hw.workspace.definitions.views
    lake.view(f"loose_{name}", query)
    with pytest.raises(StrictRefused, match=code):
        lake.hw.sql(f"ALTER MATERIALIZED VIEW loose_{name} SET POLICY STRICT")


def test_strict_takes_a_view_that_follows_one_of_its_sources(lake: Lake) -> None:
    """What is refused at the definition cannot be followed whatever changes."""
    lake.source("u", "id INT", [(1,), (2,)])
    ranked = "SELECT id, row_number() OVER (ORDER BY id) AS r FROM u"
    lake.view("half", f"SELECT t.id, r FROM t JOIN ({ranked}) AS p ON t.id = p.r", "POLICY STRICT")
    lake.change("t", update={"id": "2"}, where="id = 3")
    lake.refresh("half")
    lake.assert_right("half")


def test_strict_refuses_a_rebuild_that_comes_later(lake: Lake) -> None:
    """S26: where the history of a source is gone the refresh is refused; asked for, it is made."""
    lake.source("kept", "id INT, v INT", [(1, 1), (2, 2)])
    lake.view("strict", "SELECT id, v FROM kept", "POLICY STRICT")
    before = lake.content("strict")
    lake.write("kept", "id INT, v INT", [(3, 3)], mode="overwrite")
    refusal = lake.hw.explain("strict").refusal
    assert refusal is not None
    assert refusal.code == "STRICT_REFUSED"
    with pytest.raises(StrictRefused, match="SOURCE_OVERWRITTEN"):
        lake.hw.refresh("strict")
    assert lake.content("strict") == before
    assert lake.hw.refresh("strict", full=True).technique is Technique.REBUILD
    lake.assert_right("strict")


@pytest.mark.parametrize("technique", ["skip", "replace"])
def test_not_every_technique_can_be_asked_for(lake: Lake, technique: str) -> None:
    """S26: a technique that is no choice of the user's is refused by name, and nothing happens."""
    version = lake.version("flat")
    with pytest.raises(TechniqueRefused, match=f"{technique} cannot be asked for"):
        lake.hw.refresh("flat", technique=technique)
    assert lake.version("flat") == version


def test_forced_technique_is_refused_where_unsound(lake: Lake) -> None:
    """S26: a technique that would not be exact is refused with its reason, and nothing happens."""
    lake.refresh("flat")
    lake.change("t", delete="id = 11")
    before = lake.content("flat")
    with pytest.raises(TechniqueRefused, match="NOT_APPEND_ONLY"):
        lake.hw.refresh("flat", technique="append")
    assert lake.content("flat") == before
    assert lake.hw.refresh("flat", technique="delta").technique is Technique.DELTA
    lake.assert_right("flat")


def test_only_a_view_that_is_followed_is_compared(lake: Lake) -> None:
    """S27: a rebuild overwrites what nobody follows, and tells all rows that went and came."""
    lake.source("rows", "k INT, v INT", [(n, n) for n in range(12)])
    lake.view("alone", "SELECT k, v FROM rows", "POLICY FULL")
    lake.view("below", "SELECT k, v FROM rows", "POLICY FULL")
    lake.view("above", "SELECT count(*) AS n FROM below")
    lake.insert("rows", (99, 99))
    receipts = lake.refresh("alone", "above")
    counts = {view: (r.rows_inserted, r.rows_deleted) for view, r in receipts.items()}
    assert counts == {"alone": (13, 12), "below": (1, 0), "above": (1, 1)}
    lake.assert_right("alone", "below", "above")
