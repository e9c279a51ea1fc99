"""Views whose windows look at all rows, on real tables."""

from __future__ import annotations

import pytest

from headwater.plan import planner
from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import Lake

ROWS = [(i, f"shop {i % 7}", i * 3 % 11) for i in range(60)]
RANKED = "SELECT shop, rank() OVER (ORDER BY sum(paid) DESC) AS place FROM sales GROUP BY shop"
SHARE = "SELECT id, paid * 100 / sum(paid) OVER () AS share FROM sales"


@pytest.fixture
def shops(lake: Lake) -> Lake:
    lake.source("sales", "id INT, shop STRING, paid INT", ROWS)
    return lake


def test_places_among_all(shops: Lake) -> None:
    """Only the shops whose place changed are written, and a reader never sees the sums."""
    shops.view("ranked", RANKED)
    assert [f.name for f in shops.hw.table("ranked").schema.fields] == ["shop", "place"]
    shops.insert("sales", (100, "shop 1", 500), (101, "new", 1))
    receipt = shops.refresh()["ranked"]
    assert receipt.technique is Technique.REKEY
    assert "ALL_ROWS" in {reason.code for reason in receipt.reasons}
    shops.assert_right()
    shops.change("sales", update={"paid": "paid"}, where="id = 1")
    version = shops.version("ranked")
    shops.refresh()
    assert shops.version("ranked") == version
    shops.change("sales", delete="shop = 'shop 1'")
    shops.change("sales", update={"paid": "paid + 40"}, where="shop = 'shop 3'")
    assert shops.refresh()["ranked"].technique is Technique.REKEY
    shops.assert_right()


def test_shares_of_all(shops: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row changes: the table is written whole, from what it held and the change."""
    monkeypatch.setattr(planner, "_REBUILD_MARGIN", 1e6)
    shops.view("shares", SHARE, "POLICY AUTO")
    for change in ({"delete": "id = 5"}, {"update": {"paid": "paid + 1"}, "where": "id < 9"}):
        shops.change("sales", **change)
        shops.insert("sales", (200, None, 3), (200, None, 3))
        assert shops.refresh()["shares"].technique is Technique.REKEY
        shops.assert_right()
    shops.change("sales", delete="true")
    shops.refresh()
    shops.assert_right()
