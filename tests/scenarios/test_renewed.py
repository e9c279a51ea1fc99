"""A merge or rekey that writes a small view whole."""

from __future__ import annotations

import pytest

from headwater.plan import planner
from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import Lake

ROWS = [(i, None if i % 9 == 0 else f"g{i % 5}", i * 1.5, i % 3) for i in range(40)]


@pytest.fixture(autouse=True)
def rebuilds_are_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    """As they are where the sources are large; whatever is learnt of these small ones."""
    monkeypatch.setattr(planner, "_REBUILD_MARGIN", 1e6)


@pytest.fixture
def small(lake: Lake) -> Lake:
    lake.source("t", "id INT, g STRING, x DOUBLE, v INT", ROWS)
    lake.view("merged", "SELECT g, sum(v) AS total, count(*) AS n FROM t GROUP BY g", "POLICY AUTO")
    rekeyed = "SELECT g, v, max(x) AS most, sum(x) AS sum FROM t GROUP BY g, v HAVING count(*) > 1"
    lake.view("rekeyed", rekeyed, "POLICY AUTO")
    lake.refresh()
    return lake


def test_groups_come_change_and_go(small: Lake) -> None:
    changes = (
        {"delete": "g = 'g1'"},
        {"update": {"g": "'new'"}, "where": "id IN (2, 3, 9)"},
        {"delete": "g IS NULL"},
        {"update": {"v": "v + 1"}, "where": "id = 4"},
    )
    for change in changes:
        small.change("t", **change)
        small.insert("t", (100, None, 1.0, 1), (101, "late", None, 2))
        receipts = small.refresh()
        assert receipts["merged"].technique in {Technique.MERGE, Technique.REKEY}
        assert receipts["rekeyed"].technique is Technique.REKEY
        assert {small.commits(view)[-1]["operation"] for view in receipts} == {"WRITE"}
        small.assert_right()
    for view in ("merged", "rekeyed"):
        assert not list((small.folder / "warehouse" / view).glob("_change_data/*"))


def test_what_moves_no_group_writes_nothing(small: Lake) -> None:
    version = small.version("merged")
    small.change("t", update={"x": "x + 1"}, where="id = 4")
    small.change("t", update={"id": "id + 1000"}, where="id = 4")
    small.refresh()
    assert small.version("merged") == version
    small.assert_right()
