"""Runners, coordinators and the ledger together, on a given clock; no Spark, no threads."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest

from headwater.control.results import SUCCEEDED, RunEnd, RunResult, result_of
from headwater.define.trigger import Every, Manual
from headwater.settings import ControlSettings
from headwater.store import Ledger
from headwater.testing.clock import FrozenClock
from headwater.testing.fleet import Fleet, define, handler_def, source_def, view_def
from headwater.vocabulary.errors import CommitFailed, RefreshRunning, StrictRefused
from headwater.vocabulary.lifecycle.command import CommandKind, CommandState
from headwater.vocabulary.lifecycle.job import JobState
from headwater.vocabulary.lifecycle.runner import RunnerState


def every(seconds: float) -> Every:
    return Every(timedelta(seconds=seconds))


@pytest.fixture
def fleet(ledger: Ledger, clock: FrozenClock) -> Fleet:
    return Fleet(ledger, clock)


def define_views(ledger: Ledger, count: int, **schedule: object) -> None:
    sources = [source_def(f"s{n}") for n in range(count)]
    views = [view_def(f"v{n}", f"s{n}", **schedule) for n in range(count)]  # type: ignore[arg-type]
    define(ledger, [*sources, *views])


# --- placement ----------------------------------------------------------------------------------


def test_each_job_has_one_owner_and_a_leaving_runner_moves_only_its_own(fleet: Fleet) -> None:
    """S1: 3 runners, 300 jobs: one owner each; one leaves, only its jobs move; back: same map."""
    define_views(fleet.ledger, 300, trigger=every(3600))
    for address in ("a", "b", "c"):
        fleet.start(address, slots=50)
    fleet.pass_time(30)
    before = fleet.owners()
    assert set(before.values()) == {"a", "b", "c"}
    fleet.nodes[1].stop()
    fleet.pass_time(15)
    without = fleet.owners()
    assert set(without.values()) == {"a", "c"}
    assert {v: o for v, o in before.items() if o != "b"}.items() <= without.items()
    fleet.start("b", slots=50)
    fleet.pass_time(20)
    assert fleet.owners() == before
    assert all(len(fleet.runs_of(f"v{n}")) == 1 for n in range(300))


def test_a_handler_is_one_job_of_one_runner(fleet: Fleet) -> None:
    """A commit below any of its views is one run of all; without it each has a job again."""
    sources, views = [source_def("s"), source_def("t")], [view_def("a", "s"), view_def("b", "t")]
    define(fleet.ledger, [*sources, *views])
    for address in ("x", "y"):
        fleet.start(address)
    fleet.pass_time(20)
    assert fleet.owners().keys() == {"a", "b"}
    define(fleet.ledger, [handler_def("h", "a", "b")])
    fleet.pass_time(20)
    assert fleet.owners().keys() == {"h"}
    assert len(fleet.runs_of("h")) == 1
    for source in ("s", "t"):
        for node in fleet.nodes:
            node.runner.noticed([source] if source in node.runner.followed else [])
        fleet.pass_time(5)
    assert len(fleet.runs_of("h")) == 3
    assert fleet.job("h").state is JobState.COMPLETED
    fleet.ledger.definitions.remove("HANDLER", "h")
    fleet.pass_time(20)
    assert fleet.owners().keys() == {"a", "b"}


def test_a_dead_runner_is_removed_with_its_jobs_and_commands(fleet: Fleet) -> None:
    """One silent for 30 s is removed and its jobs go to the others, but not earlier."""
    define_views(fleet.ledger, 12, trigger=every(3600))
    a, b = fleet.start("a"), fleet.start("b")
    fleet.pass_time(20)
    theirs = [view for view, owner in fleet.owners().items() if owner == "b"]
    assert theirs
    b.crash()
    fleet.pass_time(18)
    assert {r.address for r in fleet.ledger.runners.list()} == {"a", "b"}
    fleet.pass_time(22)
    assert set(fleet.owners().values()) == {"a"}
    assert a.runner.scheduler.sources is not None
    assert fleet.ledger.commands.pending() == ()


def test_a_restart_at_the_same_address_takes_over_at_once(fleet: Fleet) -> None:
    """S2: a new process at an address evicts the old one's row and gets its jobs at once."""
    define_views(fleet.ledger, 6, trigger=every(3600))
    old = fleet.start("a")
    fleet.pass_time(10)
    old.crash()
    new = fleet.start("a")
    fleet.pass_time(25)
    (runner,) = fleet.ledger.runners.list()
    assert runner.id == new.runner.registration.id
    assert set(fleet.owners().values()) == {"a"}
    assert len(new.runner.scheduler) >= 6


def test_of_two_processes_at_one_address_the_later_stays(fleet: Fleet) -> None:
    """Two runners at one address: the later wins; the earlier stops, waits, and disturbs nobody."""
    define_views(fleet.ledger, 4, trigger=every(5))
    early = fleet.start("a")
    fleet.pass_time(8)
    late = fleet.start("a")
    fleet.pass_time(60)
    (runner,) = fleet.ledger.runners.list()
    assert runner.id == late.runner.registration.id
    assert early.runner.registration.known_id == ""
    assert early.runner.in_hand == 0
    late.stop()
    fleet.pass_time(20)
    (runner,) = fleet.ledger.runners.list()
    assert runner.id == early.runner.registration.known_id


def test_scaling_out_right_before_a_trigger_runs_it_once(fleet: Fleet) -> None:
    """S3: a job that moves to a new runner just before it is due runs exactly once."""
    define_views(fleet.ledger, 20, trigger=every(60))
    fleet.start("a")
    fleet.pass_time(30)
    fleet.runs.clear()
    fleet.pass_time(34)  # first runs began within the first seconds, so all are nearly due
    fleet.start("b")
    fleet.pass_time(56)
    counts = {f"v{n}": len(fleet.runs_of(f"v{n}")) for n in range(20)}
    assert set(counts.values()) == {1}
    assert set(fleet.owners().values()) == {"a", "b"}


def test_a_restart_right_before_a_trigger_runs_it_once(fleet: Fleet) -> None:
    """S4: the next time is in the ledger, so a restart neither loses nor doubles a run."""
    define_views(fleet.ledger, 5, trigger=every(60))
    fleet.start("a")
    fleet.pass_time(55)
    fleet.runs.clear()
    fleet.nodes[0].stop()
    fleet.start("a")
    fleet.pass_time(50)
    assert {len(fleet.runs_of(f"v{n}")) for n in range(5)} == {1}


def test_a_new_view_does_not_wait_for_the_poll(fleet: Fleet) -> None:
    """S5: a new view's first run begins within seconds, far below the 30 s of the reconcile."""
    define_views(fleet.ledger, 1, trigger=every(3600))
    fleet.start("a")
    fleet.pass_time(20)
    define(fleet.ledger, [view_def("new", "s0", trigger=every(3600))])
    defined = fleet.clock.now()
    fleet.pass_time(5)
    (began,) = fleet.runs_of("new")
    assert began - defined <= timedelta(seconds=4)


def test_jobs_that_share_a_table_share_a_runner(fleet: Fleet) -> None:
    """Views on one base table are placed together, also views on views."""
    define(
        fleet.ledger,
        [
            *(source_def(f"s{n}") for n in range(20)),
            *(view_def(f"a{n}", f"s{n}") for n in range(20)),
            *(view_def(f"b{n}", f"s{n}", "s0") for n in range(20)),
            *(view_def(f"c{n}", f"a{n}") for n in range(20)),
        ],
    )
    for address in ("x", "y", "z"):
        fleet.start(address)
    fleet.pass_time(15)
    owners = fleet.owners()
    assert len(set(owners.values())) == 3
    for n in range(20):
        assert owners[f"a{n}"] == owners[f"b{n}"] == owners[f"c{n}"]


# --- failures -----------------------------------------------------------------------------------


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


# --- time ---------------------------------------------------------------------------------------


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


# --- wishes and commands ------------------------------------------------------------------------


def test_a_job_dropped_while_queued_never_starts(fleet: Fleet) -> None:
    """S15: dropped between being due and having a worker: skipped."""
    define_views(fleet.ledger, 3, trigger=every(20))
    fleet.plan = lambda _run: (8, SUCCEEDED)
    fleet.start("a", slots=1)
    fleet.pass_time(5)
    waiting = [f"v{n}" for n in range(3) if not fleet.runs_of(f"v{n}")]
    assert len(waiting) == 2
    fleet.ledger.definitions.remove("MATERIALIZED VIEW", waiting[0])
    fleet.pass_time(60)
    assert fleet.runs_of(waiting[0]) == []
    assert fleet.runs_of(waiting[1])


def test_pausing_keeps_a_job_from_starting_until_it_is_resumed(fleet: Fleet) -> None:
    """A paused job keeps its owner and its schedule and does not run."""
    define_views(fleet.ledger, 1, trigger=every(5))
    fleet.start("a")
    fleet.pass_time(10)
    fleet.ledger.jobs.pause(fleet.job("v0").id)
    fleet.pass_time(2)
    fleet.runs.clear()
    fleet.pass_time(30)
    assert fleet.runs_of("v0") == []
    assert fleet.owners()["v0"] == "a"
    fleet.ledger.jobs.resume(fleet.job("v0").id, fleet.clock.now())
    fleet.pass_time(3)
    assert len(fleet.runs_of("v0")) == 1


def test_should_run_false_stops_a_job(fleet: Fleet) -> None:
    """S71: should_run = false stops a job and frees it; true starts it again."""
    define_views(fleet.ledger, 1, trigger=every(5))
    fleet.plan = lambda _run: (3, SUCCEEDED)
    fleet.start("a")
    fleet.pass_time(11)
    fleet.ledger.jobs.set_should_run(fleet.job("v0").id, wanted=False)
    fleet.pass_time(8)
    assert fleet.owners()["v0"] is None
    fleet.runs.clear()
    fleet.pass_time(30)
    assert fleet.runs_of("v0") == []
    fleet.ledger.jobs.set_should_run(fleet.job("v0").id, wanted=True)
    fleet.pass_time(10)
    assert fleet.runs_of("v0")


def test_a_failing_start_backs_off_and_tells_why(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S71: a START that fails ends as ERROR with its trace and is repeated at growing gaps."""
    define_views(fleet.ledger, 1, trigger=every(5))
    node = fleet.start("a")

    def broken(job: int) -> bool:
        raise OSError("no room")

    monkeypatch.setitem(node.runner._orders._acts, CommandKind.START, broken)
    fleet.pass_time(60)
    job = fleet.job("v0")
    commands = fleet.ledger.commands.of_job(job.id)
    assert {c.state for c in commands} == {CommandState.ERROR}
    assert all("Traceback" in (c.detail or "") and "no room" in (c.detail or "") for c in commands)
    made = sorted(c.created_at for c in commands)
    gaps = [(b - a).total_seconds() for a, b in pairwise(made)]
    assert 3 <= len(commands) <= 5
    assert all(gap >= 5 * 2**n for n, gap in enumerate(gaps))
    monkeypatch.setitem(node.runner._orders._acts, CommandKind.START, node.runner.start_job)
    fleet.pass_time(60)
    (newest, *_) = fleet.ledger.commands.of_job(job.id)
    assert (newest.state, newest.detail) == (CommandState.SUCCESS, None)


def test_a_scan_runs_over_everything_once(fleet: Fleet) -> None:
    """SCAN runs a job once in full and ends with that run; the wish is gone then."""
    define_views(fleet.ledger, 1, trigger=every(1000))
    scans = []
    fleet.plan = lambda run: (scans.append(run.scan), (2, SUCCEEDED))[1]
    fleet.start("a")
    fleet.pass_time(10)
    job = fleet.job("v0")
    fleet.ledger.jobs.set_scan(job.id, wanted=True)
    fleet.pass_time(15)
    assert scans == [False, True]
    assert not fleet.job("v0").scan
    scan = next(c for c in fleet.ledger.commands.of_job(job.id) if c.kind is CommandKind.SCAN)
    assert scan.state is CommandState.SUCCESS


def test_a_scan_can_be_taken_back(fleet: Fleet) -> None:
    """NOSCAN stops a run over everything."""
    define_views(fleet.ledger, 1, trigger=every(1000))
    fleet.plan = lambda run: (500 if run.scan else 0, SUCCEEDED)
    node = fleet.start("a")
    fleet.pass_time(10)
    job = fleet.job("v0")
    fleet.ledger.jobs.set_scan(job.id, wanted=True)
    fleet.pass_time(10)
    assert [run.scan for run in node.workers.running] == [True]
    fleet.ledger.jobs.set_scan(job.id, wanted=False)
    fleet.pass_time(5)
    assert node.workers.running == ()
    assert fleet.ledger.commands.pending() == ()
    assert fleet.job("v0").state is JobState.CANCELED


def test_after_a_cancel_the_job_waits_two_minutes(fleet: Fleet) -> None:
    """S16: a canceled automatic job comes again, but not before 2 minutes have passed."""
    define_views(fleet.ledger, 1, trigger=every(5))
    fleet.plan = lambda _run: (0, RunResult(RunEnd.CANCELED))
    fleet.start("a")
    fleet.pass_time(10)
    (first,) = fleet.runs_of("v0")
    fleet.plan = lambda _run: (0, SUCCEEDED)
    fleet.pass_time(130)
    assert (fleet.runs_of("v0")[1] - first).total_seconds() >= 120


def test_a_drained_runner_finishes_and_gets_nothing_new(fleet: Fleet) -> None:
    """Draining moves a runner's jobs away, each after the run that is under way."""
    define_views(fleet.ledger, 10, trigger=every(30))
    fleet.plan = lambda _run: (6, SUCCEEDED)
    a, _ = fleet.start("a", slots=10), fleet.start("b", slots=10)
    fleet.pass_time(4)
    assert a.workers.running
    runner = a.runner.registration.id
    fleet.ledger.runners.set_state(runner, RunnerState.DRAINING, expected=RunnerState.ACTIVE)
    fleet.pass_time(20)
    assert set(fleet.owners().values()) == {"b"}
    assert {fleet.job(f"v{n}").state for n in range(10)} <= {JobState.COMPLETED, JobState.RUNNING}
    assert fleet.ledger.runners.get(runner) is not None


def test_a_runner_whose_row_is_deleted_stops_and_registers_again(fleet: Fleet) -> None:
    """S70: it cancels what runs, gets a fresh id, and is given its jobs again."""
    define_views(fleet.ledger, 4, trigger=every(300))
    fleet.plan = lambda _run: (40, SUCCEEDED)
    node = fleet.start("a")
    fleet.pass_time(5)
    assert len(node.workers.running) == 4
    cancellations = [run.cancellation for run in node.workers.running]
    before = node.runner.registration.id
    fleet.ledger.runners.leave(before)
    fleet.plan = lambda _run: (0, SUCCEEDED)
    fleet.pass_time(30)
    assert all(each.is_set for each in cancellations)
    assert node.runner.registration.id != before
    assert set(fleet.owners().values()) == {"a"}
    assert all(fleet.job(f"v{n}").last_success is not None for n in range(4))


def test_the_leaders_own_runner_is_never_removed_by_it(fleet: Fleet) -> None:
    """S69: its own heartbeat looks stale to a leader that is slow itself; it stays all the same."""
    define_views(fleet.ledger, 2, trigger=every(5))
    node = fleet.start("a")
    fleet.pass_time(10)
    before = node.runner.registration.id
    for _ in range(120):  # only the coordinator's loop gets its turn
        fleet.clock.advance(1)
        node.coordinator.step()
    assert [r.id for r in fleet.ledger.runners.list()] == [before]


def test_headwaters_own_jobs_are_listed_like_any_other(fleet: Fleet) -> None:
    """sys$coordinator belongs to the leader and moves with it; sys$dictionary is placed."""
    define_views(fleet.ledger, 1, trigger=every(3600))
    a = fleet.start("a")
    fleet.pass_time(10)
    names = {job.name: job.owner for job in fleet.ledger.jobs.list()}
    assert names["sys$coordinator"] == names["sys$dictionary"] == a.runner.registration.id
    a.stop()
    b = fleet.start("b")
    fleet.pass_time(10)
    names = {job.name: job.owner for job in fleet.ledger.jobs.list()}
    assert names["sys$coordinator"] == names["sys$dictionary"] == b.runner.registration.id


def test_closing_awaits_what_runs_and_drops_what_is_queued(fleet: Fleet) -> None:
    """S12: close with queued work: running runs end and are written, queued ones never start."""
    define_views(fleet.ledger, 5, trigger=every(300))
    fleet.plan = lambda _run: (10, SUCCEEDED)
    node = fleet.start("a", slots=2)
    fleet.pass_time(5)
    assert (len(node.workers.running), node.workers.queued) == (2, 3)
    node.stop()
    node.stop()
    done = [fleet.job(f"v{n}").last_success for n in range(5)]
    assert sum(at is not None for at in done) == 2
    assert fleet.ledger.runners.list() == ()
    assert set(fleet.owners().values()) == {None}
    assert {fleet.job(f"v{n}").state for n in range(5)} == {JobState.COMPLETED}


def test_a_new_leader_settles_before_it_balances(ledger: Ledger, clock: FrozenClock) -> None:
    """A new leader places nothing before its settling time, so that all runners are there first."""
    fleet = Fleet(ledger, clock, ControlSettings(settle_seconds=20))
    define_views(fleet.ledger, 5, trigger=every(3600))
    fleet.start("a")
    fleet.pass_time(15)
    assert set(fleet.owners().values()) == {None}
    fleet.start("b")
    fleet.pass_time(10)
    assert set(fleet.owners().values()) == {"a", "b"}
    assert all(len(fleet.runs_of(f"v{n}")) == 1 for n in range(5))


def test_watermarks_of_quiet_jobs_are_flushed_hourly(fleet: Fleet) -> None:
    """S35, S44: a table without commits moves the watermark, once an hour, and nothing else."""
    define_views(fleet.ledger, 2)
    node = fleet.start("a")
    fleet.pass_time(20)
    before = fleet.job("v0")
    for _ in range(65):
        fleet.pass_time(60, step=10)
        node.runner.noticed([])
    after = fleet.job("v0")
    assert after.watermark is not None
    assert fleet.clock.now() - after.watermark < timedelta(hours=1, minutes=2)
    assert (after.sequence, after.last_start) == (before.sequence, before.last_start)
    assert len(fleet.runs_of("v0")) == 1


def test_many_commands_do_not_keep_a_runner_from_reporting(fleet: Fleet) -> None:
    """A thousand jobs for one runner are started in turns, with reports in between."""
    define_views(fleet.ledger, 450, trigger=Manual())
    node = fleet.start("a")
    fleet.pass_time(2)
    turns = 0
    while len(node.runner.scheduler) < 450:
        fleet.pass_time(0.5)
        turns += 1
        assert turns < 40
    fleet.pass_time(10)
    assert fleet.ledger.commands.pending() == ()


def test_a_pass_longer_than_the_lease_keeps_it(
    ledger: Ledger, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The coordinator renews in the middle of a pass, so long lists cost it no term."""
    fleet = Fleet(ledger, clock)
    define_views(fleet.ledger, 3, trigger=every(3600))
    node = fleet.start("a")
    real = ledger.jobs.list

    def slow() -> object:
        clock.advance(9)
        return real()

    monkeypatch.setattr(ledger.jobs, "list", slow)
    for _ in range(6):
        node.coordinator.step()
        clock.advance(4)
    assert node.leader.term is not None
    assert node.leader.term.number == 1


def test_what_a_waiting_runner_notices_does_not_pile_up(fleet: Fleet) -> None:
    """Bounded: a process that waits for its address for days keeps no more than the sources."""
    define_views(fleet.ledger, 1)
    early = fleet.start("a")
    fleet.pass_time(5)
    fleet.start("a")
    fleet.pass_time(15)
    assert early.runner.registration.known_id == ""
    for _ in range(1000):
        early.runner.noticed(["s0"])
        early.runner.noticed([])
    assert early.runner._noticed == {"s0"}
