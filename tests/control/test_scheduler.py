"""A runner's queue, without a runner."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from headwater.control.scheduler import Scheduler
from headwater.control.settings import pause_after
from headwater.control.spec import Spec, read_spec
from headwater.control.triggers import Downstream, TargetLag, Trigger
from headwater.define.trigger import Cron, Every, Greedy, Manual, OnChange
from headwater.store import JobRecord
from headwater.testing.clock import START, FrozenClock
from headwater.vocabulary.errors import LedgerUnreachable
from headwater.vocabulary.lifecycle.job import JobKind, JobState
from headwater.vocabulary.settings import ControlSettings
from tests.jobs import JOB

SECOND = timedelta(seconds=1)
HOURLY = Every(timedelta(hours=1))


def job(number: int, next_at: datetime | None, trigger: Trigger = HOURLY, **other) -> JobRecord:
    spec, name = Spec(trigger, (f"s{number}",)).to_text(), f"v{number}"
    known = {"state": JobState.COMPLETED, **other}
    return replace(JOB, id=number, subject=name, name=name, spec=spec, next_at=next_at, **known)


class Queue:
    """A scheduler over lists in memory."""

    def __init__(self, *jobs: JobRecord) -> None:
        self.clock = FrozenClock()
        self.scheduler = Scheduler(ControlSettings())
        self.jobs = list(jobs)
        self.broken: JobKind | None = None
        self.loads: list[JobKind] = []

    def load(self, kind: JobKind) -> tuple[JobRecord, ...]:
        self.loads.append(kind)
        if kind is self.broken:
            raise LedgerUnreachable("away")
        return tuple(each for each in self.jobs if each.kind is kind)

    def reconcile(self) -> bool:
        return self.scheduler.reconcile(self.load, self.clock.now)

    def due(self, most: int = 100) -> list[str]:
        return [entry.job.name for entry in self.scheduler.take_due(self.clock.now(), most)]


def test_due_jobs_come_in_the_order_of_their_times() -> None:
    """The longest due first, whatever order they were loaded in; a limit leaves the rest."""
    queue = Queue(*(job(n, START - SECOND * (n * 7 % 10)) for n in range(10)))
    queue.reconcile()
    first, rest = queue.due(4), queue.due()
    assert first + rest == [f"v{n}" for n in sorted(range(10), key=lambda n: -(n * 7 % 10))]
    assert queue.due() == []


def test_half_a_reconcile_changes_nothing() -> None:
    """S6: the refresh jobs load, the purge jobs do not: no queue changes; after a change, 1 s."""
    queue = Queue(job(1, START), job(2, START, kind=JobKind.PURGE))
    queue.reconcile()
    queue.jobs = [job(3, START)]
    queue.broken = JobKind.PURGE
    queue.scheduler.mark_dirty()
    with pytest.raises(LedgerUnreachable):
        queue.reconcile()
    assert queue.due() == ["v1", "v2"]
    assert queue.scheduler.next_wake(queue.clock.now()) == queue.clock.now() + SECOND
    assert not queue.reconcile()
    queue.clock.advance(1)
    queue.broken = None
    assert queue.reconcile()
    assert queue.due() == ["v3"]


def test_a_failed_look_without_a_change_waits_its_usual_time() -> None:
    """S6: only a change is worth asking for again at once."""
    queue = Queue(job(1, None))
    queue.reconcile()
    queue.clock.advance(30)
    queue.broken = JobKind.REFRESH
    with pytest.raises(LedgerUnreachable):
        queue.reconcile()
    queue.clock.advance(29)
    assert not queue.reconcile()
    queue.clock.advance(1)
    queue.broken = None
    assert queue.reconcile()


def test_a_running_job_takes_new_settings_but_is_not_moved() -> None:
    """What is in hand stays so; its new settings count from its end."""
    queue = Queue(job(1, START))
    queue.reconcile()
    (entry,) = queue.scheduler.take_due(queue.clock.now(), 1)
    queue.jobs = [job(1, START + SECOND, OnChange(), sequence=5)]
    queue.scheduler.mark_dirty()
    queue.reconcile()
    queue.clock.advance(10)
    assert queue.due() == []
    assert entry.spec.trigger == OnChange()
    assert queue.scheduler.sources == {"s1"}
    queue.scheduler.put_back(entry, queue.clock.now())
    assert queue.due() == ["v1"]


def test_a_changed_next_time_moves_a_waiting_job() -> None:
    """Earlier, later, never: the ledger's time counts, also for a job that waits to retry."""
    retry = {"count": 3, "retry_at": (START + 100 * SECOND).isoformat()}
    queue = Queue(job(1, START + 100 * SECOND, retry=retry))
    queue.reconcile()
    for sequence, (next_at, due) in enumerate(
        [(START, ["v1"]), (START + 500 * SECOND, []), (None, [])], start=1
    ):
        queue.jobs = [job(1, next_at, retry=retry, sequence=sequence)]
        queue.scheduler.mark_dirty()
        queue.reconcile()
        taken = queue.scheduler.take_due(queue.clock.now(), 9)
        assert [entry.job.name for entry in taken] == due
        for entry in taken:
            queue.scheduler.put_back(entry, next_at)


def test_a_job_removed_before_its_start_is_skipped() -> None:
    """S15: gone from the ledger, gone from the heap."""
    queue = Queue(job(1, START + SECOND), job(2, START + SECOND))
    queue.reconcile()
    queue.jobs = queue.jobs[1:]
    queue.scheduler.mark_dirty()
    queue.reconcile()
    queue.clock.advance(5)
    assert queue.due() == ["v2"]
    assert len(queue.scheduler) == 1


@pytest.mark.parametrize(
    "stopped", [{"paused": True}, {"should_run": False}, {"state": JobState.ERROR}]
)
def test_what_may_not_start_does_not_and_comes_back_when_it_may(stopped: dict) -> None:
    """Paused, not wanted, stopped by an error: not taken, and placed again afterwards."""
    queue = Queue(job(1, START, **stopped))
    queue.reconcile()
    assert queue.due() == []
    queue.jobs = [job(1, START)]
    queue.scheduler.mark_dirty()
    queue.reconcile()
    assert queue.due() == ["v1"]


def test_a_commit_does_not_shorten_a_wait_after_a_failure() -> None:
    """A view that fails is not tried with every commit, but in its own growing steps."""
    later = START + 50 * SECOND
    retry = {"count": 2, "retry_at": later.isoformat()}
    queue = Queue(job(1, later, OnChange(), retry=retry))
    queue.reconcile()
    assert queue.scheduler.notice(["s1"], queue.clock.now()) == 1
    assert queue.due() == []
    queue.clock.advance(50)
    assert queue.due() == ["v1"]


def test_many_moves_do_not_make_the_heap_grow() -> None:
    """Bounded: stale places are tidied away."""
    queue = Queue(*(job(n, None, OnChange()) for n in range(10)))
    queue.reconcile()
    entries = queue.scheduler.take_due(queue.clock.now(), 10)
    for n in range(5_000):
        queue.scheduler.put_back(entries[n % 10], START + timedelta(hours=1 + n))
    assert len(queue.scheduler._heap) < 1_100


def test_long_lists_are_looked_at_less_often() -> None:
    """Looking may take 0.4 % of the time, so a list that takes 2 s is read every 500 s."""
    assert pause_after(30, timedelta(0)) == timedelta(seconds=30)
    assert pause_after(30, timedelta(seconds=2)) == timedelta(seconds=500)


@pytest.mark.parametrize(
    "trigger",
    [
        OnChange(),
        Greedy(),
        Manual(),
        Downstream(),
        Every(timedelta(seconds=1.5)),
        TargetLag(timedelta(minutes=5)),
        Cron("0 6 * * MON", "Europe/Berlin"),
    ],
    ids=str,
)
def test_settings_survive_the_ledger(trigger: Trigger) -> None:
    """What is written down is what is read, for every trigger."""
    spec = Spec(trigger, ("a", "b"), ("v",), 3, timedelta(hours=1), None)
    assert read_spec(spec.to_text()) == spec


def test_an_unchanged_look_moves_nothing() -> None:
    """Reconciling again and again does not disturb the order or run anything twice."""
    queue = Queue(job(1, START + SECOND), job(2, None, OnChange()))
    queue.reconcile()
    assert queue.due() == ["v2"]
    (entry,) = [queue.scheduler.get(2)]
    queue.jobs[1] = replace(queue.jobs[1], sequence=2)
    queue.scheduler.put_back(entry, None)
    for _ in range(5):
        queue.scheduler.mark_dirty()
        queue.reconcile()
        assert queue.due() == []
    queue.clock.advance(1)
    assert queue.due() == ["v1"]


def test_a_job_that_begins_to_follow_commits_runs_once_at_once() -> None:
    """EVERY changed to ON CHANGE, or another source read: earlier commits are not lost."""
    queue = Queue(job(1, START + timedelta(hours=1)))
    queue.reconcile()
    assert queue.due() == []
    queue.jobs = [job(1, None, OnChange(), sequence=1)]
    queue.scheduler.mark_dirty()
    queue.reconcile()
    (entry,) = queue.scheduler.take_due(queue.clock.now(), 9)
    queue.scheduler.put_back(entry, None)
    other = Spec(OnChange(), ("s1", "s2")).to_text()
    queue.jobs = [replace(queue.jobs[0], spec=other)]
    queue.scheduler.mark_dirty()
    queue.reconcile()
    assert queue.due() == ["v1"]
    assert queue.scheduler.sources == {"s1", "s2"}


def test_new_settings_during_a_run_make_it_run_once_more() -> None:
    """What a run that began before did not see is seen by the next one."""
    queue = Queue(job(1, None, OnChange()))
    queue.reconcile()
    (entry,) = queue.scheduler.take_due(queue.clock.now(), 9)
    entry.again = False
    queue.jobs = [replace(queue.jobs[0], spec=Spec(OnChange(), ("s1", "s2")).to_text())]
    queue.scheduler.mark_dirty()
    queue.reconcile()
    assert entry.again


@pytest.mark.parametrize(
    ("waits", "due"),
    [
        ({"retry": {"count": 1, "retry_at": (START + 50 * SECOND).isoformat()}}, 50),
        ({"state": JobState.CANCELED}, 0),
    ],
)
def test_a_wait_ends_though_a_new_definition_took_its_time_away(waits: dict, due: int) -> None:
    """From a clock to commits in the middle of a wait: the job neither runs early nor never."""
    queue = Queue(job(1, START + 50 * SECOND, **waits))
    queue.reconcile()
    queue.jobs = [job(1, None, OnChange(), sequence=1, **waits)]
    queue.scheduler.mark_dirty()
    queue.reconcile()
    if due:
        assert queue.due() == []
        queue.clock.advance(due)
    assert queue.due() == ["v1"]
