"""What was stopped for want of a source goes on when the source is back."""

from __future__ import annotations

import pytest

from headwater.control.results import SUCCEEDED, result_of
from headwater.store import Ledger
from headwater.testing.clock import FrozenClock
from headwater.testing.fleet import Fleet, define, source_def, view_def
from headwater.vocabulary.errors import HeadwaterError, SourceUnreadable, StrictRefused
from headwater.vocabulary.lifecycle.job import JobState


@pytest.fixture
def fleet(ledger: Ledger, clock: FrozenClock) -> Fleet:
    """One runner that keeps one view on one source."""
    made = Fleet(ledger, clock)
    define(ledger, [source_def("s"), view_def("v", "s")])
    made.start("a")
    made.pass_time(15)
    assert fleet_state(made) == (JobState.COMPLETED, 1)
    return made


def fleet_state(fleet: Fleet) -> tuple[JobState, int]:
    return fleet.job("v").state, len(fleet.runs_of("v"))


def commit_and_fail(fleet: Fleet, error: HeadwaterError) -> None:
    fleet.plan = lambda _run: (0.1, result_of(error))
    fleet.nodes[0].runner.noticed(["s"])
    fleet.pass_time(3)
    assert fleet_state(fleet) == (JobState.ERROR, 2)
    fleet.plan = lambda _run: (0.1, SUCCEEDED)


def test_a_source_that_comes_back_starts_its_views_again(fleet: Fleet) -> None:
    """S42: a table dropped and made again leaves no view stopped for ever."""
    commit_and_fail(fleet, SourceUnreadable("there is no such folder"))
    fleet.pass_time(600)
    assert fleet_state(fleet) == (JobState.ERROR, 2)
    fleet.nodes[0].runner.noticed(["s"])
    fleet.pass_time(5)
    assert fleet_state(fleet) == (JobState.COMPLETED, 3)


def test_other_permanent_errors_wait_for_a_person(fleet: Fleet) -> None:
    """A commit on a source repairs nothing else."""
    commit_and_fail(fleet, StrictRefused("no incremental technique is sound"))
    fleet.nodes[0].runner.noticed(["s"])
    fleet.pass_time(60)
    assert fleet_state(fleet) == (JobState.ERROR, 2)


def test_a_paused_view_stays_paused(fleet: Fleet) -> None:
    """A source that comes back is no wish of a user's."""
    commit_and_fail(fleet, SourceUnreadable("there is no such folder"))
    fleet.ledger.jobs.pause(fleet.job("v").id)
    fleet.pass_time(40)
    fleet.nodes[0].runner.noticed(["s"])
    fleet.pass_time(10)
    assert fleet_state(fleet) == (JobState.ERROR, 2)
    assert fleet.job("v").paused
