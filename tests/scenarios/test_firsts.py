"""Views of the latest row of each key, on real tables."""

from __future__ import annotations

import pytest

from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import Lake

ROWS = [(i, f"shop {i % 7}", i * 3 % 11) for i in range(60)]
LATEST = (
    "SELECT shop, paid FROM (SELECT *, row_number() OVER (PARTITION BY shop ORDER BY id DESC) "
    "AS nth FROM sales) WHERE nth = 1"
)


@pytest.fixture
def shops(lake: Lake) -> Lake:
    lake.source("sales", "id INT, shop STRING, paid INT", ROWS)
    lake.view("latest", LATEST)
    return lake


def test_the_latest_of_each(shops: Lake) -> None:
    """A newer row takes the place of the stored one, and a reader never sees what ordered them."""
    assert [f.name for f in shops.hw.table("latest").schema.fields] == ["shop", "paid"]
    shops.insert("sales", (100, "shop 1", 500), (101, "new", 1))
    receipt = shops.refresh()["latest"]
    assert receipt.technique is Technique.REKEY
    assert "FIRST_OF_EACH" in {reason.code for reason in receipt.reasons}
    assert (receipt.rows_inserted, receipt.rows_deleted) == (2, 1)
    shops.assert_right()


def test_what_lies_behind_is_no_matter(shops: Lake) -> None:
    """Rows that were never shown come and go without a commit."""
    version = shops.version("latest")
    shops.change("sales", delete="id < 20")
    shops.change("sales", update={"paid": "paid + 1"}, where="id < 30")
    shops.insert("sales", (-1, "shop 2", 5))
    shops.refresh()
    assert shops.version("latest") == version
    shops.assert_right()


def test_the_latest_goes(shops: Lake) -> None:
    """The one before is asked for; a shop without rows leaves the view."""
    shops.change("sales", delete="id >= 55 OR shop = 'shop 3'")
    assert shops.refresh()["latest"].technique is Technique.REKEY
    shops.assert_right()
    shops.change("sales", update={"shop": "'shop 1'"}, where="id = 54")
    shops.refresh()
    shops.assert_right()
    shops.change("sales", delete="true")
    shops.refresh()
    shops.assert_right()
