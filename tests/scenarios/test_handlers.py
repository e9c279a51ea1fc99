"""Handlers: views that are moved to one common frontier together."""

from __future__ import annotations

import pytest

from headwater.control.results import RunEnd
from headwater.vocabulary.errors import HeadwaterError, WrongUse
from tests.scenarios.lake import Lake

VIEWS = {
    "parts": "SELECT id, part FROM shares WHERE part IS NOT NULL",
    "sums": "SELECT part, count(*) AS n FROM parts GROUP BY part",
    "ratios": "SELECT id, 60 / part AS ratio FROM shares",
    "named": "SELECT s.id, n.name FROM shares s JOIN names n ON s.part = n.part",
    "apart": "SELECT part, name FROM names",
}
HANDLED = ("sums", "ratios", "named")


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    lake = shared_lake
    lake.source("shares", "id INT, part INT", [(n, n % 3 + 1) for n in range(6)])
    lake.source("names", "part INT, name STRING", [(1, "one"), (2, "two")])
    for name, query in VIEWS.items():
        lake.view(name, query)
    lake.hw.sql(f"CREATE HANDLER together PROCESS {', '.join(HANDLED)}")
    return lake


def frontiers(lake: Lake, *views: str) -> dict[str, set[int]]:
    """Base source -> the versions of it at which views stand, through all that they read."""
    found: dict[str, set[int]] = {}
    for view in views:
        for name, version in lake.read(view).items():
            below = frontiers(lake, name) if name in VIEWS else {name: {version}}
            for source, versions in below.items():
                found.setdefault(source, set()).update(versions)
    return found


def test_views_of_a_handler_move_together(lake: Lake) -> None:
    """Refreshing one of them, or the handler, brings all to one frontier; others stay."""
    lake.insert("shares", (10, 1), (11, None))
    lake.insert("names", (3, "three"))
    receipt = lake.hw.refresh("named")
    assert (receipt.view, receipt.rows_inserted) == ("named", 3)
    assert frontiers(lake, *HANDLED) == {"shares": {1}, "names": {1}}
    assert lake.read("apart") == {"names": 0}
    lake.insert("shares", (12, 2))
    assert lake.hw.refresh("Together").view == "named"
    assert frontiers(lake, *HANDLED) == {"shares": {2}, "names": {1}}
    with pytest.raises(WrongUse, match="move with what they are computed from"):
        lake.hw.refresh("together", only=True)


def test_a_runner_moves_a_handler_as_one_job(lake: Lake) -> None:
    """What is due is the handler: one run, one set of pins, all its views."""
    lake.insert("shares", (20, 3))
    assert lake.run_job("together").end is RunEnd.SUCCEEDED
    assert frontiers(lake, *HANDLED) == {"shares": {lake.version("shares")}, "names": {1}}


def test_a_view_that_fails_is_told_with_those_that_moved(lake: Lake) -> None:
    """The others may have moved; each is exact where it stands, and the next run unites them."""
    before = lake.read("ratios")
    lake.insert("shares", (30, 0))
    with pytest.raises(HeadwaterError, match="of handler together, sums, named moved and ratios"):
        lake.hw.refresh("sums")
    assert lake.read("ratios") == before
    assert lake.hw.verify("ratios").equal
    lake.change("shares", update={"part": "6"}, where="id = 30")
    assert lake.run_job("together").end is RunEnd.SUCCEEDED
    assert frontiers(lake, *HANDLED) == {"shares": {lake.version("shares")}, "names": {1}}
    lake.assert_right(*HANDLED, verify=())
