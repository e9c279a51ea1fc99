"""A view that is defined anew while it is being refreshed."""

from __future__ import annotations

from datetime import timedelta

from headwater.control.results import SUCCEEDED
from headwater.define.trigger import Every
from headwater.store import Ledger
from headwater.testing.clock import FrozenClock
from headwater.testing.fleet import Fleet, define, source_def, view_def

VIEWS = [f"v{n}" for n in range(16)]


def test_commits_are_followed_however_the_run_ends(ledger: Ledger, clock: FrozenClock) -> None:
    """Runs end before, with and after the look at which their runner learns of the definition."""
    fleet = Fleet(ledger, clock)
    sources = [source_def(f"s{view}") for view in VIEWS]
    hourly = Every(timedelta(hours=1))
    define(ledger, [*sources, *(view_def(v, f"s{v}", trigger=hourly) for v in VIEWS)])
    fleet.plan = lambda run: (20 + VIEWS.index(run.job.name) / 2, SUCCEEDED)
    node = fleet.start("a", slots=len(VIEWS))
    fleet.pass_time(20)
    assert {len(fleet.runs_of(view)) for view in VIEWS} == {1}
    define(ledger, [view_def(view, f"s{view}") for view in VIEWS])
    fleet.pass_time(60)
    before = {view: len(fleet.runs_of(view)) for view in VIEWS}
    assert set(node.runner.followed) == {f"s{view}" for view in VIEWS}
    node.runner.noticed([f"s{view}" for view in VIEWS])
    fleet.pass_time(5)
    assert {view: len(fleet.runs_of(view)) - 1 for view in VIEWS} == before
