"""Every refresh can say where its time went and what Spark did for it."""

from __future__ import annotations

import threading

import pytest

from headwater.cli.text.explanations import explanation_blocks
from headwater.execute import job_work
from headwater.execute.isolated import POOL
from headwater.execute.lanes import REFRESHES
from headwater.vocabulary.profile import REST, StepCost, Work, total_work
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import Lake

BIG = 5_000


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    shared_lake.source("big", "k INT, v INT", [(n % 7, n) for n in range(BIG)])
    shared_lake.source("few", "k INT, v INT", [(1, 1), (2, 2)])
    shared_lake.view("of_big", "SELECT k, sum(v) AS s FROM big GROUP BY k")
    shared_lake.view("of_few", "SELECT k, sum(v) AS s FROM few GROUP BY k")
    return shared_lake


def part(costs: tuple[StepCost, ...], *names: str) -> StepCost:
    """A part by the names on the way to it."""
    (found,) = (cost for cost in costs if cost.name == names[0])
    return found if len(names) == 1 else part(found.parts, *names[1:])


def work(receipt: Receipt) -> Work:
    found = total_work(receipt.profile)
    assert found is not None
    return found


def test_the_parts_add_up_and_are_kept(lake: Lake) -> None:
    """Seconds, rows, jobs and bytes of every part; the history has the same tree."""
    lake.change("few", update={"v": "v + 1"}, where="k = 1")
    receipt = lake.refresh("of_few")["of_few"]
    assert receipt.technique is not Technique.SKIP
    profile = receipt.profile
    assert [c.name for c in profile][:4] == ["claim", "capture", "plan", "execute"]
    assert profile[-1].name == REST
    assert sum(c.seconds for c in profile) == pytest.approx(receipt.seconds)
    files = part(profile, "commit", "files")
    assert files.work is not None
    assert files.work.jobs >= 1
    assert files.work.bytes_written > 0
    rows = next(c for c in part(profile, "execute").parts if c.rows is not None)
    assert rows.rows == 1
    assert rows.work is not None
    assert 2 <= rows.work.rows_read < 100  # what was and what is, and lines of the log
    assert rows.work.bytes_read > 0
    assert part(profile, "commit", "look").work == Work()
    kept = lake.hw.history("of_few")[0]
    assert kept.profile == profile
    assert kept.seconds == receipt.seconds


def test_refreshes_at_the_same_time_do_not_mix(lake: Lake) -> None:
    """What one view's jobs read is not counted to the other's, though they ran side by side."""
    outcome = lake.hw.refresh_all((), full=True)
    assert outcome.failures == {}
    big, few = (work(outcome.receipts[name]) for name in ("of_big", "of_few"))
    assert big.rows_read >= BIG
    assert few.rows_read < 100
    assert few.jobs > 0


def test_a_refresh_is_not_lost_with_its_figures(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Spark that cannot say what it did leaves a profile of times alone."""
    monkeypatch.setattr(job_work, "_STAGE", ("noSuchField",) * 5)
    lake.insert("few", (3, 3))
    receipt = lake.refresh("of_few")["of_few"]
    assert receipt.rows_inserted == 1
    assert total_work(receipt.profile) is None
    assert part(receipt.profile, "execute").seconds > 0
    lake.assert_right("of_few", verify=())


def test_each_refresh_has_a_pool_of_its_own(lake: Lake) -> None:
    """Two refreshes at the same time are in different pools of Spark; afterwards both are free."""
    pools: dict[int, str | None] = {}
    both = threading.Barrier(2)
    lake.change("big", update={"v": "v + 1"}, where="k = 1")
    lake.change("few", update={"v": "v + 1"}, where="k = 1")

    def look(step: str) -> None:
        if step.startswith("execute:__hw_changes"):
            pools[threading.get_ident()] = lake.spark.sparkContext.getLocalProperty(POOL)
            both.wait(60)

    lake.on_step = look
    lake.refresh()
    lake.on_step = lambda _step: None
    assert set(pools.values()) == {"refresh-1", "refresh-2"}
    assert REFRESHES.taken == 0
    assert lake.spark.sparkContext.getLocalProperty(POOL) is None
    lake.assert_right(verify=())


def test_explain_tells_what_the_last_one_took(lake: Lake) -> None:
    """The forecast stands beside the measured seconds; a skip between does not hide them."""
    lake.change("few", update={"v": "v + 1"}, where="k = 1")
    ran = lake.refresh("of_few")["of_few"]
    lake.refresh("of_few")
    last = lake.hw.explain("of_few").to_json()["last"]
    assert (last["attempt"], last["seconds"]) == (ran.attempt, ran.seconds)
    assert last["forecast"] == ran.forecast
    shown = str(explanation_blocks(lake.hw.explain("of_few"))[0])
    assert f"last {ran.technique.value} took {ran.seconds:,.2f} s; forecast" in shown
