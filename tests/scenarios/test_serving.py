"""A serving process in this one: real Spark, real tables, views that keep themselves fresh."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from headwater.runner.service import Service
from headwater.vocabulary.errors import UnknownName, WrongUse
from headwater.vocabulary.lifecycle.job import JobKind, JobState
from headwater.vocabulary.receipt import AttemptState
from headwater.vocabulary.settings import ControlSettings, RunnerSettings
from headwater.vocabulary.technique import Technique
from tests import tables
from tests.scenarios.lake import Lake

QUICK = ControlSettings(settle_seconds=0, tick_seconds=0.2, retry_base_seconds=0.5)
MACHINE = RunnerSettings(workers=6, busy_threshold=0, watch_seconds=0.2)
ROWS = "id INT, amount INT"


@contextmanager
def served(lake: Lake, runner: RunnerSettings = MACHINE) -> Iterator[Service]:
    workspace = lake.hw.workspace
    workspace.config = replace(
        workspace.config, control=QUICK, runner=runner, heartbeat_seconds=0.2
    )
    with Service(workspace) as service:
        yield service


def wait_for(what: Callable[[], object], seconds: float = 90) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.1)


def is_fresh(lake: Lake, *views: str) -> bool:
    behind = {status.view: status.behind for status in lake.hw.status()}
    return all(not any(behind[view].values()) for view in views)


def all_ran(lake: Lake) -> bool:
    """Whether every view's job has been made and has run once."""
    jobs = [j for j in lake.hw.workspace.ledger.jobs.list() if j.kind is JobKind.REFRESH]
    return len(jobs) == len(lake.queries) and all(job.last_success for job in jobs)


@pytest.fixture
def shop(lake: Lake) -> Lake:
    lake.source("orders", ROWS, [(n, n % 7) for n in range(20)])
    lake.view("big", "SELECT id, amount FROM orders WHERE amount > 3")
    lake.view("total", "SELECT amount, count(*) AS n FROM big GROUP BY amount")
    return lake


def test_commits_are_followed_through_the_graph(shop: Lake) -> None:
    """ON CHANGE: a commit on a source makes its views fresh, views on views included, and equal."""
    with served(shop):
        wait_for(lambda: {j.owner for j in shop.hw.workspace.ledger.jobs.list()} != {None})
        for n in range(3):
            shop.run(f"INSERT INTO {{orders}} VALUES ({100 + n}, 5)")
            wait_for(lambda: is_fresh(shop, "big", "total"))
    for view in ("big", "total"):
        assert shop.hw.verify(view).equal
    attempts = shop.hw.history(limit=100)
    automatic = [attempt for attempt in attempts if not attempt.manual]
    assert {attempt.job for attempt in automatic} == {"big", "total"}
    assert {attempt.state for attempt in attempts} <= {AttemptState.SUCCEEDED}


def test_a_store_that_is_away_for_a_while(shop: Lake) -> None:
    """S65: what came meanwhile is there when the store is back, nothing lost, nothing reordered."""
    place = Path(shop.hw.workspace.view("big").path)
    elsewhere = place.with_name("elsewhere")

    def failures() -> int:
        return sum(a.state is AttemptState.FAILED for a in shop.hw.history("big"))

    with served(shop):
        wait_for(lambda: {j.owner for j in shop.hw.workspace.ledger.jobs.list()} != {None})
        place.rename(elsewhere)
        place.touch()
        for n in range(3):
            shop.run(f"INSERT INTO {{orders}} VALUES ({200 + n}, 5)")
            shop.run(f"DELETE FROM {{orders}} WHERE id = {199 + n}")
        wait_for(lambda: failures() >= 2)
        place.unlink()
        elsewhere.rename(place)
        wait_for(lambda: is_fresh(shop, "big", "total"))
    for view in ("big", "total"):
        assert shop.hw.verify(view).equal
        done = [a.frontier_after for a in shop.hw.history(view) if a.frontier_after is not None]
        versions = [min(v.version for v in frontier.values()) for frontier in reversed(done)]
        assert versions == sorted(versions)


def test_a_running_refresh_is_canceled_by_its_id(shop: Lake) -> None:
    """S16: cancel by id from anywhere; nothing is committed; the job waits, then goes on."""
    started, go = threading.Event(), threading.Event()
    ledger = shop.hw.workspace.ledger

    def hold(step: str) -> None:
        if step == "commit":
            started.set()
            go.wait(30)

    with served(shop):
        wait_for(lambda: all_ran(shop))
        wait_for(lambda: is_fresh(shop, "big", "total"))
        shop.on_step = hold
        shop.run("INSERT INTO {orders} VALUES (200, 6)")
        assert started.wait(60)  # one of the views; the other one may begin later
        wait_for(lambda: ledger.attempts.list("big", AttemptState.RUNNING))
        (running,) = ledger.attempts.list("big", AttemptState.RUNNING)
        assert shop.hw.cancel(running.id, by="test")
        time.sleep(1)  # a heartbeat
        go.set()
        wait_for(lambda: ledger.attempts.get(running.id).state is AttemptState.CANCELED)
        wait_for(lambda: ledger.jobs.find("big")[0].state is not JobState.RUNNING)
        log = "".join(file.read_text() for file in tables.log_files(shop.path("big")))
        assert running.id not in log  # the other view's job may have moved this one since
    shop.on_step = lambda _step: None


def test_a_refresh_over_its_limit_is_canceled_and_commits_nothing(shop: Lake) -> None:
    """S10: the slot is free, the attempt canceled, a late result lands nowhere."""
    ledger = shop.hw.workspace.ledger
    slow = threading.Event()

    def hold(step: str) -> None:
        if step == "commit" and not slow.is_set():
            slow.set()
            time.sleep(4)

    shop.run("INSERT INTO {orders} VALUES (300, 6)")
    shop.on_step = hold
    with served(shop, replace(MACHINE, refresh_limit_seconds=2)):
        assert slow.wait(60)
        wait_for(lambda: ledger.attempts.list(state=AttemptState.CANCELED))
        wait_for(lambda: is_fresh(shop, "big", "total"))
    assert shop.hw.verify("big").equal
    succeeded = ledger.attempts.list("big", AttemptState.SUCCEEDED)
    landed = [a.sequence for a in succeeded if a.technique is not Technique.SKIP]
    assert len(landed) == len(set(landed))


def test_pause_and_resume_in_sql(shop: Lake) -> None:
    """PAUSE keeps a view as it is while commits come; RESUME lets it catch up."""
    with pytest.raises(UnknownName, match="no job yet"):
        shop.hw.sql("PAUSE MATERIALIZED VIEW big")
    with served(shop):
        wait_for(lambda: all_ran(shop))
        shop.hw.sql("PAUSE MATERIALIZED VIEW big; PAUSE MATERIALIZED VIEW total")
        shop.run("INSERT INTO {orders} VALUES (400, 6)")
        time.sleep(3)
        assert not is_fresh(shop, "big")
        shop.hw.sql("RESUME MATERIALIZED VIEW big; RESUME MATERIALIZED VIEW total")
        wait_for(lambda: is_fresh(shop, "big", "total"))
    assert shop.hw.verify("total").equal


def test_a_served_handler_is_one_job(shop: Lake) -> None:
    """Its views run, wait and go on together; none of them has a job of its own."""
    shop.hw.sql("CREATE HANDLER both PROCESS total, big")
    jobs = shop.hw.workspace.ledger.jobs
    with served(shop):
        wait_for(lambda: any(job.last_success for job in jobs.find("both")))
        with pytest.raises(WrongUse, match="PAUSE HANDLER both"):
            shop.hw.sql("PAUSE MATERIALIZED VIEW big")
        shop.hw.sql("PAUSE HANDLER both; RESUME HANDLER both")
        shop.run("INSERT INTO {orders} VALUES (500, 6)")
        wait_for(lambda: is_fresh(shop, "big", "total"))
    shop.assert_right(verify=())
    found = {job.name for job in jobs.list() if job.kind is JobKind.REFRESH}
    assert found == {"both"}
    automatic = [attempt for attempt in shop.hw.history(limit=100) if not attempt.manual]
    assert {attempt.job for attempt in automatic} == {"both"}
    assert {status.handler for status in shop.hw.status()} == {"both"}
