"""A change that touches no used column writes nothing, however cheap it is to compute anew."""

from __future__ import annotations

import pytest

from headwater.plan import planner
from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import Lake

ROWS = [(i, f"g{i % 3}", i * 1.5, f"note {i}") for i in range(20)]


@pytest.fixture(autouse=True)
def rebuilds_are_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "_REBUILD_MARGIN", 1e-6)


@pytest.fixture
def auto(lake: Lake) -> Lake:
    lake.source("t", "id INT, g STRING, x DOUBLE, note STRING", ROWS)
    lake.view("grouped", "SELECT g, sum(x) AS s FROM t GROUP BY g", "POLICY AUTO")
    lake.view("flat", "SELECT id, x FROM t WHERE x > 3", "POLICY AUTO")
    return lake


def test_nothing_is_written(auto: Lake) -> None:
    versions = {view: auto.version(view) for view in ("grouped", "flat")}
    auto.change("t", update={"note": "'other'"}, where="id < 5")
    for view, receipt in auto.refresh().items():
        assert receipt.technique is Technique.SKIP
        assert [reason.code for reason in receipt.reasons] == ["NO_ROW_CHANGED"]
        assert auto.version(view) == versions[view]
    assert {r.technique for r in auto.refresh().values()} == {Technique.SKIP}, "they moved on"


def test_what_is_used_is_written(auto: Lake) -> None:
    """Also where other columns change beside it, and where rows only come or only go."""
    changes = (
        {"update": {"note": "'other'", "x": "x + 1"}, "where": "id = 5"},
        {"delete": "id = 7"},
        {"update": {"g": "'g1'"}, "where": "id = 9"},
    )
    for change in changes:
        auto.change("t", **change)
        receipts = auto.refresh()
        assert receipts["grouped"].technique is Technique.REBUILD
        auto.assert_right()
    auto.insert("t", (100, "g9", 50.0, None))
    assert auto.refresh()["flat"].technique is Technique.REBUILD
    auto.assert_right()


def test_only_what_there_was_is_put_back(auto: Lake) -> None:
    """Over several commits nothing is different in the end."""
    version = auto.version("grouped")
    auto.change("t", delete="id = 3")
    auto.insert("t", (300, "g0", 4.5, "again"))
    assert auto.refresh()["grouped"].technique is Technique.SKIP
    assert auto.version("grouped") == version
    auto.assert_right()


def test_what_cannot_be_compared_is_computed(lake: Lake) -> None:
    lake.source("t", "id INT, j STRING, note STRING", [(1, '{"a": 1}', "x"), (2, None, "y")])
    lake.view("v", "SELECT id, rand(3) > 2 AS never FROM t", "POLICY AUTO")
    lake.change("t", update={"note": "'z'"}, where="id = 1")
    assert lake.refresh()["v"].technique is Technique.REBUILD
    lake.assert_right()


def test_a_source_that_only_an_unread_cte_names_moves_the_frontier_alone(lake: Lake) -> None:
    """Nothing of the view depends on it, whatever happens to its rows."""
    lake.source("t", "id INT, g STRING, x DOUBLE, note STRING", ROWS)
    lake.source("u", "id INT", [(1,), (2,)])
    ctes = "WITH t AS (SELECT * FROM t), unread AS (SELECT * FROM u)"
    grouped = f"{ctes} SELECT g, count(*) AS n FROM t GROUP BY g"
    lake.view("grouped", grouped, "POLICY INCREMENTAL")
    version = lake.version("grouped")
    lake.change("u", delete="id = 1")
    assert lake.refresh()["grouped"].technique is Technique.SKIP
    assert lake.version("grouped") == version
    lake.insert("t", (100, "g9", 50.0, None))
    lake.insert("u", (3,))
    assert lake.refresh()["grouped"].technique is Technique.MERGE
    lake.assert_right()
