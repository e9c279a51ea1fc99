"""How far behind a view is, as the scheduler of its runner knows it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from headwater.control.scheduler import Scheduler
from headwater.control.spec import Spec
from headwater.control.triggers import Every, OnChange, Trigger
from headwater.store.job_record import JobRecord
from headwater.testing.clock import START, FrozenClock
from headwater.vocabulary.lifecycle.job import JobKind, JobState
from headwater.vocabulary.settings import ControlSettings
from tests.jobs import JOB


def job(trigger: Trigger) -> JobRecord:
    spec = Spec(trigger, ("s",)).to_text()
    return replace(JOB, spec=spec, state=JobState.COMPLETED, last_start=START, last_success=START)


class Kept:
    """A scheduler with one job."""

    def __init__(self, trigger: Trigger) -> None:
        self.clock = FrozenClock()
        self.job = job(trigger)
        self.scheduler = Scheduler(ControlSettings())
        self.reconcile()

    def reconcile(self) -> None:
        self.scheduler.mark_dirty()
        of_kind = {JobKind.REFRESH: (self.job,)}
        self.scheduler.reconcile(lambda kind: of_kind.get(kind, ()), self.clock.now)

    def run(self) -> None:
        (entry,) = self.scheduler.take_due(self.clock.now(), 1)
        self.scheduler.put_back(entry, None)

    @property
    def lag(self) -> float:
        return self.scheduler.lags(self.clock.now())["v"]


def test_a_view_that_follows_commits_is_fresh_until_one_is_seen() -> None:
    """However long ago its last success was; then it lags since the commit, queued or running."""
    kept = Kept(OnChange())
    kept.run()
    kept.clock.advance(7200)
    assert kept.lag == 0
    kept.scheduler.notice(["s"], kept.clock.now())
    kept.clock.advance(3)
    assert kept.lag == 3
    (entry,) = kept.scheduler.take_due(kept.clock.now(), 1)
    kept.clock.advance(2)
    assert kept.lag == 5
    kept.scheduler.put_back(entry, None)
    assert kept.lag == 0


def test_a_view_that_waits_after_a_failure_lags_since_its_last_success() -> None:
    """Nobody knows better, and its next try is no sign of freshness."""
    kept = Kept(OnChange())
    kept.run()
    kept.clock.advance(60)
    retry = {"count": 1, "retry_at": kept.clock.now().isoformat()}
    kept.job = replace(kept.job, retry=retry, sequence=1, next_at=START + timedelta(seconds=300))
    kept.reconcile()
    assert kept.lag == 60


def test_a_view_that_runs_by_the_clock_lags_since_its_last_success() -> None:
    """What happened in between is not looked at."""
    kept = Kept(Every(timedelta(hours=1)))
    kept.clock.advance(600)
    assert kept.lag == 600
