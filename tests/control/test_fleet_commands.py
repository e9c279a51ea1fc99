"""What people and the coordinator ask of runners; no Spark, no threads."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest

from headwater.control.results import SUCCEEDED, RunEnd, RunResult
from headwater.define.trigger import Manual
from headwater.store import Ledger
from headwater.testing.clock import FrozenClock
from headwater.testing.fleet import Fleet
from headwater.vocabulary.lifecycle.command import CommandKind, CommandState
from headwater.vocabulary.lifecycle.job import JobState
from headwater.vocabulary.lifecycle.runner import RunnerState
from headwater.vocabulary.settings import ControlSettings
from tests.control.views import define_views, every


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
