"""When jobs run: intervals, misses, commits, restarts; no Spark, no threads."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

from headwater.control.results import SUCCEEDED, result_of
from headwater.testing.fleet import Fleet
from headwater.vocabulary.errors import CommitFailed
from tests.control.views import define_views, every


def test_a_run_longer_than_its_interval_counts_misses_and_never_overlaps(fleet: Fleet) -> None:
    """S54: interval 5 s, run 12 s: one run at a time, the missed times counted."""
    define_views(fleet.ledger, 1, trigger=every(5))
    fleet.plan = lambda _run: (12, SUCCEEDED)
    node = fleet.start("a")
    for _ in range(240):
        fleet.pass_time(0.5)
        assert sum(run.job.name == "v0" for run in node.workers.running) <= 1
    times = fleet.runs_of("v0")
    assert all((b - a).total_seconds() >= 12 for a, b in pairwise(times))
    assert fleet.job("v0").misses >= 8


def test_idle_holds_nothing_and_a_restart_keeps_the_cycle(fleet: Fleet) -> None:
    """S56: between runs nothing is held; after a restart the next time is the same."""
    define_views(fleet.ledger, 1, trigger=every(600))
    node = fleet.start("a")
    fleet.pass_time(10)
    before = fleet.job("v0").next_at
    assert (node.runner.in_hand, node.workers.running) == (0, ())
    assert fleet.ledger.claims.list() == ()
    node.crash()
    fleet.start("a")
    fleet.pass_time(60)
    assert fleet.job("v0").next_at == before


def test_a_changed_next_time_moves_even_a_retrying_job(fleet: Fleet) -> None:
    """A time set by a user stands above a wait after failures."""
    define_views(fleet.ledger, 1, trigger=every(100_000))
    fleet.plan = lambda _run: (0, result_of(CommitFailed("disk full")))
    fleet.start("a")
    fleet.pass_time(300)
    job = fleet.job("v0")
    assert job.next_at is not None
    assert job.next_at > fleet.clock.now() + timedelta(seconds=5)
    fleet.runs.clear()
    assert fleet.ledger.jobs.set_next(job, fleet.clock.now())
    fleet.pass_time(3)
    assert len(fleet.runs_of("v0")) == 1


def test_commits_make_followers_run_and_none_is_lost(fleet: Fleet) -> None:
    """A commit noticed while its view is being refreshed makes it run once more."""
    define_views(fleet.ledger, 1)
    fleet.plan = lambda _run: (4, SUCCEEDED)
    node = fleet.start("a")
    fleet.pass_time(12)
    assert len(fleet.runs_of("v0")) == 1
    node.runner.noticed(["s0", "unknown"])
    fleet.pass_time(2)
    node.runner.noticed(["s0"])
    node.runner.noticed(["s0"])
    fleet.pass_time(20)
    assert len(fleet.runs_of("v0")) == 3
