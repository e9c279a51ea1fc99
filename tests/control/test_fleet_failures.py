"""What a failed run means for its job: waits, stops, repairs; no Spark, no threads."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

from headwater.control.results import SUCCEEDED, result_of
from headwater.define.trigger import Manual
from headwater.testing.fleet import Fleet, define, source_def, view_def
from headwater.vocabulary.errors import CommitFailed, RefreshRunning, StrictRefused
from headwater.vocabulary.lifecycle.job import JobState
from tests.control.views import define_views, every


def test_failures_wait_longer_each_time_and_success_resets(fleet: Fleet) -> None:
    """S7: three failures wait 5, 10 and 20 s; a success resets; the wait never exceeds its cap."""
    define_views(fleet.ledger, 1, trigger=every(10_000))
    results = [result_of(CommitFailed("disk full"))] * 3 + [SUCCEEDED]
    fleet.plan = lambda _run: (0, results[min(len(fleet.runs), 4) - 1])
    fleet.start("a")
    fleet.pass_time(60)
    times = fleet.runs_of("v0")
    gaps = [round((b - a).total_seconds()) for a, b in pairwise(times)]
    assert gaps == [5, 10, 20]
    job = fleet.job("v0")
    assert (job.state, job.retry, job.error) == (JobState.COMPLETED, None, None)


def test_the_wait_never_exceeds_its_cap(fleet: Fleet) -> None:
    """S7: after many failures the wait stays at 5 minutes."""
    define_views(fleet.ledger, 1, trigger=every(100_000))
    fleet.plan = lambda _run: (0, result_of(CommitFailed("disk full")))
    fleet.start("a")
    fleet.pass_time(2400, step=5)
    times = fleet.runs_of("v0")
    gaps = [(b - a).total_seconds() for a, b in pairwise(times)]
    assert gaps[-2:] == [300, 300]


def test_a_permanent_error_stops_the_job_until_it_is_repaired(fleet: Fleet) -> None:
    """Codes from 10000 up stop the job; resuming or defining it anew lets it go on."""
    define_views(fleet.ledger, 1, trigger=every(5))
    fleet.plan = lambda _run: (0, result_of(StrictRefused("no way")))
    fleet.start("a")
    fleet.pass_time(60)
    assert len(fleet.runs_of("v0")) == 1
    job = fleet.job("v0")
    assert job.state is JobState.ERROR
    assert job.error is not None
    assert job.error["code"] == "STRICT_REFUSED"
    fleet.plan = lambda _run: (0, SUCCEEDED)
    fleet.ledger.jobs.resume(job.id, fleet.clock.now())
    fleet.pass_time(3)
    assert len(fleet.runs_of("v0")) == 2
    assert fleet.job("v0").state is JobState.COMPLETED


def test_a_new_definition_repairs_a_stopped_job(fleet: Fleet) -> None:
    """A job stopped by an error starts again when its definition changes."""
    define_views(fleet.ledger, 1)
    fleet.plan = lambda _run: (0, result_of(StrictRefused("no way")))
    fleet.start("a")
    fleet.pass_time(10)
    assert fleet.job("v0").state is JobState.ERROR
    fleet.plan = lambda _run: (0, SUCCEEDED)
    define(fleet.ledger, [view_def("v0", "s0", warn_after=timedelta(hours=1))])
    fleet.pass_time(5)
    assert fleet.job("v0").state is JobState.COMPLETED
    assert len(fleet.runs_of("v0")) == 2


def test_no_next_time_is_never_and_a_past_one_is_once(fleet: Fleet) -> None:
    """S8: MANUAL never runs by itself; a next time far in the past runs once, not in a hot loop."""
    define(
        fleet.ledger,
        [
            source_def("s0"),
            view_def("by_hand", "s0", trigger=Manual()),
            view_def("hourly", "s0", trigger=every(3600)),
        ],
    )
    fleet.start("a")
    fleet.pass_time(10)
    job = fleet.job("hourly")
    assert fleet.ledger.jobs.set_next(job, fleet.clock.now() - timedelta(days=30))
    fleet.runs.clear()
    fleet.pass_time(60)
    assert fleet.runs_of("by_hand") == []
    assert len(fleet.runs_of("hourly")) == 1


def test_a_handler_that_throws_is_recorded_and_the_loop_lives(fleet: Fleet) -> None:
    """S9: whatever a run raises is written down, and the other jobs go on."""
    define_views(fleet.ledger, 3, trigger=every(5))

    def plan(run):
        if run.job.name == "v1":
            return 0, result_of(ZeroDivisionError("a bug"))
        return 0, SUCCEEDED

    fleet.plan = plan
    fleet.start("a")
    fleet.pass_time(60)
    error = fleet.job("v1").error
    assert error is not None
    assert "ZeroDivisionError: a bug" in error["what"]
    assert len(fleet.runs_of("v0")) >= 10


def test_a_view_that_somebody_else_refreshes_is_tried_again_soon(fleet: Fleet) -> None:
    """S48: a refused second refresh is no failure: no backoff, and it comes again in a second."""
    define_views(fleet.ledger, 1, trigger=every(1000))
    busy = [result_of(RefreshRunning("another"))] * 3 + [SUCCEEDED]
    fleet.plan = lambda _run: (0, busy[min(len(fleet.runs), 4) - 1])
    fleet.start("a")
    fleet.pass_time(10)
    assert len(fleet.runs_of("v0")) == 4
    assert fleet.job("v0").retry is None
    assert fleet.job("v0").state is JobState.COMPLETED
