"""The tables of the control plane."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import timedelta

import pytest

from headwater.store import Event, Finish, JobRecord, Ledger, Mark, Term
from headwater.store.dialects import open_database
from headwater.store.jobs import Duty
from headwater.store.migrate import alembic_config
from headwater.testing.clock import FrozenClock
from headwater.vocabulary.errors import LeaseLost, StateConflict
from headwater.vocabulary.lifecycle.command import CommandKind, CommandState
from headwater.vocabulary.lifecycle.job import JobKind, JobState
from headwater.vocabulary.lifecycle.runner import RunnerState

DUTY = Duty("v", "v", JobKind.REFRESH, "orders", '{"a":1}')


@pytest.fixture
def term(ledger: Ledger, clock: FrozenClock) -> Term:
    lease = ledger.leases.acquire("c", None, clock.now())
    assert lease is not None
    return Term(lease.term, "c")


@pytest.fixture
def job(ledger: Ledger, clock: FrozenClock, term: Term) -> JobRecord:
    """A job that the runner `r` owns."""
    ledger.runners.register("r", "a", 4, clock.now())
    ledger.jobs.register(DUTY, term=term, next_at=clock.now(), now=clock.now())
    (made,) = ledger.jobs.list()
    assert ledger.jobs.take(made.id, "r")
    found = ledger.jobs.get(made.id)
    assert found is not None
    return found


def again(ledger: Ledger, job: JobRecord) -> JobRecord:
    found = ledger.jobs.get(job.id)
    assert found is not None
    return found


def changed(before: JobRecord, after: JobRecord) -> set[str]:
    return {
        field.name
        for field in fields(JobRecord)
        if getattr(before, field.name) != getattr(after, field.name)
    }


# --- jobs ---------------------------------------------------------------------------------------


def test_registering_twice_makes_one_job_and_a_new_one_gets_a_higher_number(
    ledger: Ledger, clock: FrozenClock, term: Term
) -> None:
    """S30: true if created, false if alive; after a drop it starts anew with a new number."""
    now = clock.now()
    assert ledger.jobs.register(DUTY, term=term, next_at=now, now=now)
    assert not ledger.jobs.register(DUTY, term=term, next_at=now, now=now)
    (first,) = ledger.jobs.list()
    assert ledger.jobs.drop(first.id, term=term, now=now)
    assert not ledger.jobs.drop(first.id, term=term, now=now)
    assert ledger.jobs.register(DUTY, term=term, next_at=None, now=now)
    (second,) = ledger.jobs.list()
    assert second.id > first.id
    assert second.next_at is None


def test_a_dropped_job_that_is_still_held_is_not_replaced(
    ledger: Ledger, clock: FrozenClock, term: Term, job: JobRecord
) -> None:
    """A job is registered anew only when its last owner has let go."""
    ledger.jobs.drop(job.id, term=term, now=clock.now())
    assert not ledger.jobs.register(DUTY, term=term, next_at=None, now=clock.now())
    ledger.jobs.release(job.id, "r")
    assert ledger.jobs.register(DUTY, term=term, next_at=None, now=clock.now())


def test_of_runners_that_start_one_job_one_wins(
    ledger: Ledger, clock: FrozenClock, term: Term
) -> None:
    """S67: however many take a job at once, one becomes its owner."""
    ledger.jobs.register(DUTY, term=term, next_at=None, now=clock.now())
    (made,) = ledger.jobs.list()
    for n in range(8):
        ledger.runners.register(f"r{n}", f"a{n}", 1, clock.now())
    barrier = threading.Barrier(8)

    def take(n: int) -> bool:
        barrier.wait()
        return ledger.jobs.take(made.id, f"r{n}")

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(take, range(8)))
    assert sum(won) == 1
    assert again(ledger, made).owner == f"r{won.index(True)}"


def test_a_runner_without_a_row_takes_nothing(
    ledger: Ledger, clock: FrozenClock, term: Term
) -> None:
    """Only registered runners own jobs."""
    ledger.jobs.register(DUTY, term=term, next_at=None, now=clock.now())
    (made,) = ledger.jobs.list()
    assert not ledger.jobs.take(made.id, "nobody")


def test_a_run_begins_only_as_it_was_seen(
    ledger: Ledger, clock: FrozenClock, job: JobRecord
) -> None:
    """Another owner, another sequence, a pause or a drop keep a run from beginning."""
    now = clock.now()
    assert not ledger.jobs.begin(job, "other", now)
    assert not ledger.jobs.begin(replace(job, sequence=job.sequence + 1), "r", now)
    ledger.jobs.pause(job.id)
    assert not ledger.jobs.begin(job, "r", now)
    ledger.jobs.resume(job.id, now)
    ledger.jobs.set_should_run(job.id, wanted=False)
    assert not ledger.jobs.begin(again(ledger, job), "r", now)
    ledger.jobs.set_should_run(job.id, wanted=True)
    assert ledger.jobs.begin(again(ledger, job), "r", now)
    assert not ledger.jobs.begin(again(ledger, job), "r", now)


def test_no_write_touches_a_field_it_does_not_own(
    ledger: Ledger, clock: FrozenClock, term: Term, job: JobRecord
) -> None:
    """S44 and the trap of BEHAVIOUR 10: every write changes its own fields and no other."""
    later = clock.advance(5)
    steps = {
        "begin": (
            lambda j: ledger.jobs.begin(j, "r", later),
            {"state", "last_start", "sequence"},
        ),
        "finish": (
            lambda j: ledger.jobs.finish(
                j.id,
                "r",
                j.sequence,
                Finish(JobState.COMPLETED, later, {"count": 1}, {"x": 1}, later, 2),
            ),
            {"state", "next_at", "retry", "error", "last_success", "misses", "sequence"},
        ),
        "pause": (lambda j: ledger.jobs.pause(j.id), {"paused"}),
        "watermark": (
            lambda j: ledger.jobs.flush_watermarks("r", later, timedelta(hours=1)) == 1,
            {"watermark"},
        ),
        "scan": (lambda j: ledger.jobs.set_scan(j.id, wanted=True), {"scan"}),
        "wish": (lambda j: ledger.jobs.set_should_run(j.id, wanted=False), {"should_run"}),
        "spec": (
            lambda j: ledger.jobs.respecify(
                j.id,
                replace(DUTY, spec="{}", placed_by="p"),
                term=term,
                next_at=None,
                reschedule=False,
            ),
            {"spec", "placed_by"},
        ),
        "next": (lambda j: ledger.jobs.set_next(j, None), {"next_at", "sequence"}),
        "release": (lambda j: ledger.jobs.release(j.id, "r"), {"owner", "sequence"}),
        "drop": (lambda j: ledger.jobs.drop(j.id, term=term, now=later), {"dropped_at"}),
    }
    for name, (write, owned) in steps.items():
        before = again(ledger, job)
        assert write(before), name
        assert changed(before, again(ledger, job)) == owned, name


def test_a_late_owner_writes_nothing(
    ledger: Ledger, clock: FrozenClock, term: Term, job: JobRecord
) -> None:
    """A runner that was removed while its run went on cannot write the run's end."""
    assert ledger.jobs.begin(job, "r", clock.now())
    running = again(ledger, job)
    (runner,) = ledger.runners.list()
    assert ledger.runners.remove(runner, term)
    freed = again(ledger, job)
    assert (freed.owner, freed.state) == (None, JobState.COMPLETED)
    end = Finish(JobState.COMPLETED, None, succeeded_at=clock.now())
    assert not ledger.jobs.finish(job.id, "r", running.sequence, end)
    assert not ledger.jobs.finish(job.id, "r", freed.sequence, end)
    assert again(ledger, job) == freed


def test_a_run_cannot_end_in_a_state_that_is_no_end(ledger: Ledger, job: JobRecord) -> None:
    """The table of moves is asked before the ledger is."""
    with pytest.raises(StateConflict):
        ledger.jobs.finish(job.id, "r", job.sequence, Finish(JobState.PENDING, None))


def test_a_watermark_moves_by_an_hour_or_more_and_only_forward(
    ledger: Ledger, clock: FrozenClock, job: JobRecord
) -> None:
    """S35, S44: flushing touches the watermark only where it moved far enough, never back."""
    hour, start = timedelta(hours=1), clock.now()
    flush = ledger.jobs.flush_watermarks
    assert flush("r", start, hour) == 1
    assert flush("r", start + hour / 2, hour) == 0
    assert flush("r", start + hour, hour) == 1
    assert flush("r", start, hour) == 0
    assert flush("other", start + 5 * hour, hour) == 0
    assert again(ledger, job).watermark == start + hour


def test_dropped_jobs_are_cleared_after_a_day(
    ledger: Ledger, clock: FrozenClock, term: Term, job: JobRecord
) -> None:
    """S44: dropped rows go after a day, once nobody holds them."""
    ledger.jobs.drop(job.id, term=term, now=clock.now())
    clock.advance(86_401)
    assert ledger.jobs.clear_dropped(clock.now()) == 0
    ledger.jobs.release(job.id, "r")
    assert ledger.jobs.clear_dropped(clock.now()) == 1
    assert ledger.jobs.get(job.id) is None


def test_jobs_are_counted_by_state(ledger: Ledger, clock: FrozenClock, job: JobRecord) -> None:
    """Status by number, list and count by state."""
    ledger.jobs.begin(job, "r", clock.now())
    assert ledger.jobs.counts() == {JobState.RUNNING: 1}
    assert [j.id for j in ledger.jobs.find("v")] == [job.id]
    assert ledger.jobs.owned("r", JobKind.PURGE) == ()


# --- runners ------------------------------------------------------------------------------------


def test_a_removed_runner_takes_its_jobs_and_commands_along(
    ledger: Ledger, clock: FrozenClock, term: Term, job: JobRecord
) -> None:
    """Row, jobs and pending commands go in one transaction; ended commands stay as history."""
    create = ledger.commands.create
    assert create("r", CommandKind.STOP, job.id, term=term, now=clock.now())
    assert ledger.runners.leave("r")
    assert not ledger.runners.leave("r")
    assert again(ledger, job).owner is None
    assert ledger.commands.pending() == ()
    assert not create("r", CommandKind.START, job.id, term=term, now=clock.now())


def test_a_runner_that_reported_is_not_removed(
    ledger: Ledger, clock: FrozenClock, term: Term
) -> None:
    """Removing compares the beat that was seen, so a report in the last moment saves the runner."""
    ledger.runners.register("r", "a", 4, clock.now())
    (seen,) = ledger.runners.list()
    assert ledger.runners.report("r", running=1, slots=4, now=clock.now())
    assert not ledger.runners.remove(seen, term)
    (now_seen,) = ledger.runners.list()
    assert ledger.runners.remove(now_seen, term)
    assert not ledger.runners.report("r", running=1, slots=4, now=clock.now())


def test_one_runner_per_address(ledger: Ledger, clock: FrozenClock) -> None:
    """S2: a new runner evicts the old one; the old one coming back does not evict the new one."""
    ledger.runners.register("old", "a", 1, clock.now())
    ledger.runners.register("new", "a", 1, clock.now())
    assert [r.id for r in ledger.runners.list()] == ["new"]
    assert not ledger.runners.register_again("older", "a", 1, clock.now())
    ledger.runners.leave("new")
    assert ledger.runners.register_again("older", "a", 1, clock.now())


def test_draining_compares_the_state(ledger: Ledger, clock: FrozenClock) -> None:
    """Drain and undo, each from the state it was seen in."""
    ledger.runners.register("r", "a", 1, clock.now())
    active, draining = RunnerState.ACTIVE, RunnerState.DRAINING
    assert ledger.runners.set_state("r", draining, expected=active)
    assert not ledger.runners.set_state("r", draining, expected=active)
    assert ledger.runners.set_state("r", active, expected=draining)
    with pytest.raises(StateConflict):
        ledger.runners.set_state("r", active, expected=RunnerState.CLOSED)


# --- commands -----------------------------------------------------------------------------------


def test_no_duplicate_of_a_pending_command(
    ledger: Ledger, clock: FrozenClock, term: Term, job: JobRecord
) -> None:
    """The same command is not written again before it has ended; another kind is."""
    now, create = clock.now(), ledger.commands.create
    assert create("r", CommandKind.STOP, job.id, term=term, now=now)
    assert not create("r", CommandKind.STOP, job.id, term=term, now=now)
    assert create("r", CommandKind.START, job.id, term=term, now=now)
    (stop, _) = ledger.commands.take("r", now)
    assert not create("r", CommandKind.STOP, job.id, term=term, now=now)
    assert ledger.commands.end(stop.id, CommandState.SUCCESS, None, now)
    assert create("r", CommandKind.STOP, job.id, term=term, now=now)


def test_a_taken_command_comes_again_until_it_ends(
    ledger: Ledger, clock: FrozenClock, term: Term, job: JobRecord
) -> None:
    """A runner whose answer got lost is handed its command once more; ended ones never."""
    ledger.commands.create("r", CommandKind.STOP, job.id, term=term, now=clock.now())
    (first,) = ledger.commands.take("r", clock.now())
    clock.advance(5)
    (second,) = ledger.commands.take("r", clock.now())
    assert first == second
    assert ledger.commands.end(first.id, CommandState.ERROR, "Traceback ...", clock.now())
    assert not ledger.commands.end(first.id, CommandState.SUCCESS, None, clock.now())
    assert ledger.commands.take("r", clock.now()) == ()
    (failed,) = ledger.commands.failed(clock.now())
    assert failed.detail == "Traceback ..."


def test_only_an_unseen_command_is_withdrawn(
    ledger: Ledger, clock: FrozenClock, term: Term, job: JobRecord
) -> None:
    """A withdrawn command counts as no failure; a taken one cannot be withdrawn."""
    now = clock.now()
    ledger.commands.create("r", CommandKind.STOP, job.id, term=term, now=now)
    ledger.commands.create("r", CommandKind.SCAN, job.id, term=term, now=now)
    stop, scan = ledger.commands.pending()
    assert ledger.commands.withdraw(stop.id, "not wanted", term=term, now=now)
    ledger.commands.take("r", now)
    assert not ledger.commands.withdraw(scan.id, "not wanted", term=term, now=now)
    assert ledger.commands.failed(now) == ()


def test_the_history_of_commands_is_bounded(
    ledger: Ledger, clock: FrozenClock, term: Term, job: JobRecord
) -> None:
    """Old and surplus commands go; pending ones stay."""
    for _ in range(6):
        ledger.commands.create("r", CommandKind.STOP, job.id, term=term, now=clock.now())
        (command,) = ledger.commands.take("r", clock.now())
        ledger.commands.end(command.id, CommandState.SUCCESS, None, clock.now())
        clock.advance(3600 * 5)
    ledger.commands.create("r", CommandKind.STOP, job.id, term=term, now=clock.now())
    assert ledger.commands.trim(clock.now(), keep_days=1) == 2
    assert ledger.commands.trim(clock.now(), keep_days=9, keep_rows=1) == 3
    assert len(ledger.commands.of_job(job.id)) == 2
    assert len(ledger.commands.pending()) == 1


# --- leases, marks, events ----------------------------------------------------------------------


def test_control_writes_hold_the_lease_until_they_are_done(ledger_url: str) -> None:
    """While a pass writes, nobody can take the lease; after it, the next write is refused."""
    clock = FrozenClock()
    with Ledger.open(ledger_url, clock, timeout_seconds=20) as ledger:
        lease = ledger.leases.acquire("first", None, clock.now())
        assert lease is not None
        entered, term = threading.Event(), Term(lease.term, "first")

        def take_over() -> object:
            entered.set()
            return ledger.leases.acquire("second", lease, clock.now())

        with ThreadPoolExecutor(1) as pool:
            with ledger.leases.held(term):
                future = pool.submit(take_over)
                entered.wait(10)
                assert ledger.jobs.register(DUTY, term=term, next_at=None, now=clock.now())
            assert future.result(timeout=30) is not None
        with pytest.raises(LeaseLost), ledger.leases.held(term):
            pass


def test_marks_move_with_what_they_stand_for(
    ledger: Ledger, clock: FrozenClock, term: Term, job: JobRecord
) -> None:
    """Definitions, runners and jobs each move their own mark, and nothing else's."""
    before = ledger.marks.read()
    ledger.definitions.put("SOURCE", "s", "{}", "f", 1, 1, "")
    after = ledger.marks.read()
    assert {n for n in after if after[n] != before.get(n)} == {Mark.DEFINITIONS}
    before = after
    assert not ledger.definitions.remove("SOURCE", "none")
    ledger.jobs.begin(job, "r", clock.now())
    ledger.runners.report("r", running=1, slots=1, now=clock.now())
    assert ledger.marks.read() == before
    ledger.jobs.pause(job.id)
    ledger.runners.leave("r")
    after = ledger.marks.read()
    assert {n for n in after if after[n] != before.get(n)} == {Mark.JOBS, Mark.RUNNERS}


def test_a_change_of_level_is_one_event(ledger: Ledger, clock: FrozenClock) -> None:
    """S19: of checkers that see the same change, one writes it."""
    event = Event("freshness", "v", "warn", "late", {}, clock.now())
    barrier = threading.Barrier(6)

    def change(_: int) -> bool:
        barrier.wait()
        return ledger.events.change_alert(event, seen=None, rests=False)

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(change, range(6))) == 1
    assert [e.level for e in ledger.events.list("v")] == ["warn"]
    assert not ledger.events.change_alert(event, seen="overdue", rests=False)
    fine = replace(event, level="fine")
    assert ledger.events.change_alert(fine, seen="warn", rests=True)
    assert ledger.events.alerts() == ()
    assert [e.level for e in ledger.events.list()] == ["fine", "warn"]


def test_events_are_bounded(ledger: Ledger, clock: FrozenClock) -> None:
    """Old and surplus events go, the newest stay."""
    for n in range(10):
        ledger.events.add(Event("k", f"v{n}", "warn", "w", {"n": n}, clock.now()))
        clock.advance(86_400)
    assert ledger.events.trim(clock.now(), keep_days=7) == 3
    assert ledger.events.trim(clock.now(), keep_days=99, keep_rows=2) == 5
    assert [e.subject for e in ledger.events.list()] == ["v9", "v8"]
    page = ledger.events.list(limit=1)
    assert [e.subject for e in ledger.events.list(before=page[0].id)] == ["v8"]


def test_a_ledger_of_the_first_release_is_brought_up_to_date(
    ledger_url: str, clock: FrozenClock
) -> None:
    """Opening a ledger at revision 0001 adds the control plane and keeps what was there."""
    from alembic import command

    database = open_database(ledger_url, 5)
    with database.migration() as connection:
        settings = alembic_config()
        settings.attributes["connection"] = connection
        command.upgrade(settings, "0001")
    assert database.revision() == "0001"
    database.close()
    with Ledger.open(ledger_url, clock) as ledger:
        ledger.statements.put(1, "SELECT 1")
        assert ledger.jobs.list() == ()
