"""Rows that only come: written as they are made, where no row can become several."""

from __future__ import annotations

import pytest

from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import Lake, codes


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    shared_lake.source("t", "id INT, v INT", [(1, 10), (2, 20)])
    shared_lake.source("u", "id INT, w INT", [(1, 10), (7, 70)])
    shared_lake.view("large", "SELECT id, 100 DIV v AS share FROM t WHERE v > 5")
    shared_lake.view("both", "SELECT id, v FROM t UNION ALL SELECT id, w FROM u")
    shared_lake.view("joined", "SELECT t.id, u.w FROM t JOIN u ON t.v = u.w")
    shared_lake.refresh()
    return shared_lake


@pytest.fixture(autouse=True)
def up_to_date(lake: Lake) -> None:
    lake.refresh()


def refreshed(lake: Lake, view: str) -> Receipt:
    receipt = lake.refresh(view)[view]
    lake.assert_right(view)
    return receipt


@pytest.mark.parametrize(("view", "rows"), [("large", 1), ("both", 2), ("joined", 1)])
def test_rows_come(lake: Lake, view: str, rows: int) -> None:
    """As many as pass, whatever is between."""
    lake.insert("t", (3, 10), (4, 1))
    receipt = refreshed(lake, view)
    assert receipt.technique is Technique.APPEND
    assert (receipt.rows_inserted, receipt.rows_deleted) == (rows, 0)
    lake.change("t", delete="id IN (3, 4)")


def test_one_job_is_enough(lake: Lake) -> None:
    """What a refresh of ten rows waits for is jobs: the rows are made where they are written."""
    lake.insert("t", (5, 50))
    parts = [part for step in refreshed(lake, "large").profile for part in step.parts]
    jobs = {part.name: part.work.jobs for part in parts if part.work is not None}
    assert jobs["files"] == 1
    assert [n for name, n in jobs.items() if name.endswith("_rows")] == [0]


def test_nothing_is_written_where_none_comes(lake: Lake) -> None:
    """No commit tells followers of a change that is none."""
    version = lake.version("large")
    lake.insert("t", (6, 2))
    receipt = refreshed(lake, "large")
    assert receipt.technique is Technique.SKIP
    assert "NO_ROW_CHANGED" in codes(receipt)
    assert lake.version("large") == version
    assert refreshed(lake, "large").technique is Technique.SKIP
