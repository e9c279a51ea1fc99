"""Work over its time limit: the real pools, the real refresh, and a Spark that is busy with it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from headwater.control.results import RunResult
from headwater.runner.backpressure import Backpressure
from headwater.runner.pools import Pools, PoolSettings
from headwater.runner.refreshing import RefreshWork
from headwater.runner.run import Run
from headwater.runner.work import End, Outcome, Work, WorkKind
from headwater.store.job_record import JobRecord
from headwater.testing.clock import START, FrozenClock
from headwater.vocabulary.receipt import AttemptState
from tests.jobs import JOB
from tests.scenarios.lake import Lake


def job(view: str) -> JobRecord:
    return replace(JOB, subject=view, name=view, placed_by="t", last_start=START)


def eventually(holds: Callable[[], bool], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.02)


@pytest.mark.slow
def test_a_refresh_over_its_limit_is_really_stopped(lake: Lake) -> None:
    """S10: over its limit the slot is free, Spark idle, its end told once, nothing written."""
    lake.source("t", "v INT", [(1,), (2,)])
    lake.view("pairs", "SELECT count(*) AS n FROM t a JOIN t b ON a.v <> b.v")
    before, version = lake.content("pairs"), lake.version("pairs")
    lake.run("INSERT INTO {t} SELECT CAST(id AS INT) FROM range(300000)")
    clock = FrozenClock()
    pools = Pools(clock, PoolSettings(workers=1), Backpressure(clock, threshold=0))
    work = RefreshWork(lake.hw.workspace)
    run = Run(job("pairs"), "r", lambda: True)
    outcomes: list[Outcome] = []
    cancel = run.cancellation.set
    lake.told.clear()
    pools.submit(Work(WorkKind.REFRESH, "pairs", lambda: work.run(run), outcomes.append, cancel))
    tracker = lake.spark.sparkContext.statusTracker()
    eventually(lambda: any(step.startswith("execute") for step in lake.told))
    eventually(lambda: bool(tracker.getActiveJobsIds()))
    clock.advance(5 * 60)
    pools.expire()
    assert outcomes[0].end is End.TIMED_OUT
    assert pools.state()[WorkKind.REFRESH].running == 0
    eventually(lambda: len(outcomes) == 2)
    eventually(lambda: not tracker.getActiveJobsIds())
    late = outcomes[1]
    assert late.end is End.LATE
    assert isinstance(late.value, RunResult)
    assert (lake.content("pairs"), lake.version("pairs")) == (before, version)
    (newest, *_) = lake.hw.history("pairs")
    assert newest.state is AttemptState.CANCELED
    assert pools.close(10)
