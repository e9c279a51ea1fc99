"""The real control plane under injected faults, from seeds; and that the checks can fail."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog

from headwater.control.leader import Leader
from headwater.control.scheduler import Scheduler
from headwater.runner.runner import Runner
from headwater.store.jobs import Jobs
from headwater.testing.invariants import InvariantBroken
from headwater.testing.simulation import SETTINGS, Shape, simulate

SEEDS = 200
AT_ONCE = 10


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Millions of log lines are nobody's business."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.configure(**before)


@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
def test_seeds(first: int) -> None:
    """S3, S4, S65, S67-S71 and more: no seed breaks an invariant.

    One leader per term, one owner per job, no lost trigger, no double commit, bounded queues.
    """
    for seed in range(first, first + AT_ONCE):
        report = simulate(seed)
        assert report.commits > 0
        assert report.runs >= report.commits


def test_a_seed_reproduces_its_run() -> None:
    """Equal seeds give equal runs, step by step; others do not."""
    assert simulate(7) == simulate(7)
    assert simulate(7).trace != simulate(8).trace


def test_every_kind_of_fault_is_met() -> None:
    """Over some seeds every kind of fault strikes, and leaders change."""
    reports = [simulate(seed) for seed in range(1000, 1020)]
    met = {name for report in reports for name, _ in report.faults}
    assert len(met) == 13
    assert max(report.terms for report in reports) > 3


def test_a_fleet_of_hundreds() -> None:
    """200 runners and 1,000 jobs behave like a few."""
    shape = Shape(
        runners=200,
        sources=300,
        views=1000,
        rough_minutes=1.5,
        calm_minutes=6,
        faults_per_minute=20,
    )
    report = simulate(1, shape)
    assert report.runs > 1000


@pytest.mark.slow
def test_a_fleet_of_thousands() -> None:
    """1,000 runners and 5,000 jobs, an hour of nobody's time."""
    shape = Shape(
        runners=1000,
        sources=1500,
        views=5000,
        rough_minutes=2,
        calm_minutes=8,
        faults_per_minute=60,
    )
    assert simulate(1, shape).runs > 5000


# --- tests of the test --------------------------------------------------------------------------


def broken_within(seeds: range, shape: Shape | None = None) -> str:
    """What the first seed that breaks says."""
    for seed in seeds:
        try:
            simulate(seed, shape)
        except InvariantBroken as broken:
            return str(broken)
    return ""


def test_commits_without_a_fence_are_caught() -> None:
    """Without the fence of the views' own tables, late runners commit twice; that is seen."""
    assert "twice at" in (said := broken_within(range(60), Shape(fenced=False))) or "back" in said


def test_runs_that_begin_without_asking_the_ledger_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If a run began on belief alone, a job would have two owners; that is seen."""
    real = Jobs.begin

    def believing(self, job, runner, now) -> bool:
        real(self, job, runner, now)
        return True

    monkeypatch.setattr(Jobs, "begin", believing)
    monkeypatch.setattr("headwater.runner.registration.Registration.is_sure", True)
    assert broken_within(range(60))


def test_impatient_contenders_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a contender did not wait for the limit, two would lead; that is seen."""
    real = Leader.__init__

    def impatient(self, leases, holder, clock, settings) -> None:
        real(self, leases, holder, clock, settings)
        contend = self._contend

        def hasty(now) -> None:
            limit, self._limit = self._limit, self._limit / 4
            contend(now)
            self._limit = limit

        self._contend = hasty

    monkeypatch.setattr(Leader, "__init__", impatient)
    assert "leaders" in broken_within(range(60))


def test_a_forgotten_commit_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a commit that comes during a run were forgotten, a view would stay behind; seen."""
    real = Scheduler.notice

    def forgetful(self, sources, now) -> int:
        found = real(self, sources, now)
        for entry in self._entries.values():
            entry.again = False
        return found

    monkeypatch.setattr(Scheduler, "notice", forgetful)
    assert "its source at" in broken_within(range(60))


def test_a_lost_end_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the end of a run were dropped when the ledger is away, a job would be stuck; seen."""
    real = Runner._collect

    def careless(self) -> None:
        try:
            real(self)
        except Exception:
            self._ended.clear()
            raise

    monkeypatch.setattr(Runner, "_collect", careless)
    assert broken_within(range(60), Shape(lost=0.05, answer_lost=0.0))


def test_the_settings_of_the_simulation_are_sound() -> None:
    """What is simulated keeps the relations that configuration demands."""
    assert SETTINGS.renew_seconds < SETTINGS.lease_seconds
    assert SETTINGS.report_seconds < SETTINGS.silent_seconds
