"""Backlogs are worked off in bounded windows, each of them a commit."""

from __future__ import annotations

import json
import random
import time
from dataclasses import replace

import pytest

from headwater.attempt.request import Request
from headwater.graph.refreshing import refresh_views
from headwater.vocabulary.errors import InternalError
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.technique import Technique
from tests import tables
from tests.scenarios.lake import INCREMENTAL, Lake

ROWS, NAMES = "id INT, kind INT, amount INT", "kind INT, name STRING"
VIEWS = {
    "totals": "SELECT kind, sum(amount) AS total, count(*) AS n FROM sales GROUP BY kind",
    "named": "SELECT n.name, t.total FROM totals t LEFT JOIN names n ON t.kind = n.kind",
}


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    lake = shared_lake
    lake.source("sales", ROWS, [(n, n % 3, n) for n in range(6)])
    lake.source("names", NAMES, [(n, f"kind {n}") for n in range(3)])
    for name, query in VIEWS.items():
        lake.view(name, query)
    return lake


@pytest.fixture(autouse=True)
def unlimited(lake: Lake) -> None:
    limited(lake)


def limited(lake: Lake, **limits: float) -> None:
    wide = {"max_window_rows": 10_000_000, "max_window_bytes": 10_000_000_000}
    workspace = lake.hw.workspace
    workspace.config = replace(workspace.config, **{**wide, **limits})  # type: ignore[arg-type]


def sell(lake: Lake, commits: int, *, minutes: float = 0.0) -> None:
    """Commits of five rows, so many minutes apart."""
    began = int(1000 * time.time())
    for n in range(commits):
        first = 1000 * lake.version("sales")
        lake.insert("sales", *((first + i, i % 4, n) for i in range(5)))
        log = tables.log_files(lake.path("sales"))[-1]
        actions = [json.loads(line) for line in log.read_text().splitlines()]
        for told in (action["commitInfo"] for action in actions if "commitInfo" in action):
            told["timestamp"] = began + int(minutes * 60_000 * n)
        log.write_text("\n".join(map(json.dumps, actions)))


def receipts(lake: Lake, view: str, **asked: object) -> list[Receipt]:
    outcome = refresh_views(lake.hw.workspace, ["named"], Request(), **asked)  # type: ignore[arg-type]
    assert outcome.failures == {}
    return [receipt for receipt in outcome.iterations if receipt.view == view]


def test_an_hour_of_backlog_takes_several_commits(lake: Lake) -> None:
    """S45: half an hour at a time; a kill in between leaves a valid older frontier."""
    start = lake.version("sales")
    sell(lake, 12, minutes=6)
    lake.insert("names", (3, "kind 3"))
    limited(lake, max_window_rows=50)
    begun: list[str] = []

    def killed(step: str) -> None:
        begun.append(step)
        if begun.count("capture") > len(VIEWS):
            raise RuntimeError("killed")

    lake.on_step = killed
    with pytest.raises(InternalError, match="killed"):
        lake.hw.refresh("named")
    lake.on_step = lambda _step: None
    assert lake.read("totals") == {"sales": start + 6}
    assert lake.read("named")["names"] == lake.version("names")
    assert lake.hw.verify("named").equal
    (rest,) = receipts(lake, "totals")
    assert rest.frontier_before["sales"].version == start + 6
    assert (rest.frontier["sales"].version, rest.technique) == (start + 12, Technique.MERGE)
    lake.assert_right(verify=())


def test_many_windows_lose_nothing(lake: Lake) -> None:
    """S23: a commit at a time through inserts, updates and deletes, up to AS OF and on."""
    dice = random.Random(23)
    start = lake.version("sales")
    for n in range(3):
        lake.insert("sales", *((10_000 + 10 * n + i, dice.randrange(5), n) for i in range(4)))
        where = f"id % 7 = {dice.randrange(7)}"
        if n % 2:
            lake.change("sales", update={"kind": "kind + 1", "amount": "amount * 2"}, where=where)
        else:
            lake.change("sales", delete=where)
    limited(lake, max_window_bytes=1)
    half = receipts(lake, "totals", as_of={"sales": start + 2})
    rest = receipts(lake, "totals")
    versions = [receipt.frontier["sales"].version for receipt in half + rest]
    assert versions == list(range(start + 1, start + 7))
    assert {receipt.technique for receipt in half + rest} <= INCREMENTAL
    commits = [r.table_version for r in half + rest if r.technique is not Technique.SKIP]
    assert len(set(commits)) == len(commits) > 3
    lake.assert_right(verify=["totals"])


def test_where_slices_cost_more_there_are_none(lake: Lake) -> None:
    """Little in a long time, a rebuild, a technique that was asked for: straight to the end."""
    sell(lake, 4, minutes=60)
    assert len(receipts(lake, "totals")) == 1
    limited(lake, max_window_rows=1)
    sell(lake, 3)
    assert lake.hw.refresh_all(["named"], full=True).failures == {}
    assert lake.read("totals") == {"sales": lake.version("sales")}
    sell(lake, 3)
    forced = lake.hw.refresh_all(["totals"], technique="merge").iterations
    assert [receipt.technique for receipt in forced] == [Technique.MERGE]
    lake.hw.sql("ALTER MATERIALIZED VIEW named SET POLICY FULL")
    sell(lake, 3)
    both = lake.hw.refresh_all(["named"]).iterations
    assert [(r.view, r.technique) for r in both] == [
        ("totals", Technique.MERGE),
        ("named", Technique.REBUILD),
    ]
    lake.assert_right(verify=())
