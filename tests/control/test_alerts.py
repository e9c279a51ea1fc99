"""Late views, long histories, what the dead left behind, what may be purged."""

from __future__ import annotations

import json
import threading
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from headwater.control.alerts import Alerts, Level, growth
from headwater.control.membership import Membership
from headwater.control.purge import floor, purge
from headwater.control.reaper import HistoryLimits, Reaper
from headwater.control.results import SUCCEEDED, result_of
from headwater.control.webhook import Webhook
from headwater.define.trigger import Every, Manual
from headwater.store import Event, Ledger, RunnerRecord, this_process
from headwater.testing.clock import START, FrozenClock
from headwater.testing.fleet import Fleet, define, source_def, view_def
from headwater.vocabulary.errors import CommitFailed, ConfigInvalid
from headwater.vocabulary.frontier import Frontier, SourceVersion
from headwater.vocabulary.lifecycle.runner import RunnerState
from headwater.vocabulary.receipt import AttemptState, Receipt
from headwater.vocabulary.technique import Technique


@pytest.fixture
def fleet(ledger: Ledger, clock: FrozenClock) -> Fleet:
    return Fleet(ledger, clock)


def test_warning_overdue_cleared_is_one_event_each(fleet: Fleet) -> None:
    """S19: one event per change of level, cleared by success, with two checkers looking."""
    late = {"warn_after": timedelta(minutes=2), "overdue_after": timedelta(minutes=4)}
    every = Every(timedelta(seconds=30))
    define(fleet.ledger, [source_def("s"), view_def("v", "s", trigger=every, **late)])
    fleet.start("a")
    fleet.start("b")
    fleet.pass_time(30)
    assert fleet.events == []
    fleet.plan = lambda _run: (0, result_of(CommitFailed("disk full")))
    fleet.pass_time(360)
    assert [event.level for event in fleet.events] == ["warn", "overdue"]
    fleet.plan = lambda _run: (0, SUCCEEDED)
    fleet.pass_time(400)
    assert [event.level for event in fleet.events] == ["warn", "overdue", "fine"]
    kept = [e.level for e in fleet.ledger.events.list("v")]
    assert kept == ["fine", "overdue", "warn"]


def test_alerts_go_on_when_the_checker_is_killed(fleet: Fleet) -> None:
    """S19: the leader dies; the other process notices lateness all the same."""
    define(
        fleet.ledger,
        [source_def("s"), view_def("v", "s", trigger=Manual(), warn_after=timedelta(minutes=3))],
    )
    a = fleet.start("a")
    fleet.pass_time(20)
    fleet.start("b")
    a.crash()
    fleet.pass_time(240)
    assert [event.level for event in fleet.events] == ["warn"]


def test_a_refresh_by_hand_clears_an_alert(ledger: Ledger, clock: FrozenClock) -> None:
    """Success is success, whoever asked for it; the schedule stays as it is."""
    fleet = Fleet(ledger, clock)
    define(
        ledger,
        [source_def("s"), view_def("v", "s", trigger=Manual(), warn_after=timedelta(minutes=1))],
    )
    fleet.start("a")
    fleet.pass_time(120)
    assert [event.level for event in fleet.events] == ["warn"]
    before = fleet.job("v")
    ledger.attempts.record(receipt("a1", clock.now()), manual=True)
    fleet.pass_time(40)
    assert [event.level for event in fleet.events] == ["warn", "fine"]
    assert fleet.job("v") == before


def receipt(attempt: str, at: datetime) -> Receipt:
    return Receipt(attempt, "v", Technique.SKIP, Frontier(), Frontier(), 0, None, 0, 0, at, 0.1)


def test_size_alerts_strictly_above_the_limit(ledger: Ledger, clock: FrozenClock) -> None:
    """S20: at the limit nothing, one byte above an alert, below again cleared; 0 is no limit."""
    told: list[Event] = []
    alerts = Alerts(ledger, told.append)
    assert growth(100, 100) is Level.FINE
    assert growth(101, 100) is Level.WARN
    assert growth(10**12, 0) is Level.FINE
    for size in (100, 101, 150, 100):
        alerts.check_size("s", size, 100, clock.now())
    assert [event.level for event in told] == ["warn", "fine"]


def test_a_webhook_is_told_without_waiting_for_it(clock: FrozenClock) -> None:
    """Events arrive as JSON; an address that nobody answers at holds nobody up."""
    got: list[dict] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    hook = Webhook(f"http://127.0.0.1:{server.server_port}/alerts")
    hook(Event("freshness", "v", "warn", "late", {"a": 1}, clock.now()))
    hook.close()
    server.shutdown()
    thread.join()
    server.server_close()
    assert [event["subject"] for event in got] == ["v"]
    nobody = Webhook(f"http://127.0.0.1:{server.server_port}/alerts")
    nobody(Event("freshness", "v", "warn", "late", {}, clock.now()))
    nobody.close()
    with pytest.raises(ConfigInvalid):
        Webhook("ftp://somewhere")


# --- history ------------------------------------------------------------------------------------


def test_silent_attempts_are_orphaned_and_histories_stay_within_their_limits(
    ledger: Ledger, clock: FrozenClock
) -> None:
    """S17, S18: orphaned in time; kept 7 days and so many rows, never a running one dropped."""
    limits = HistoryLimits(silent_seconds=30, keep_rows=5)
    reaper = Reaper(ledger, limits, every_seconds=60)
    for n in range(10):
        ledger.attempts.record(receipt(f"a{n}", clock.now()), manual=False)
    start = {"manual": False, "frontier_before": Frontier()}
    ledger.attempts.start("dead", "v", "v", started_at=clock.now(), **start)
    ledger.attempts.start("alive", "v", "v", started_at=clock.now(), **start)
    clock.advance(61)
    ledger.attempts.heartbeat("alive", clock.now())
    reaper.step(clock.now())
    states = {a.id: a.state for a in ledger.attempts.list(limit=1000)}
    assert states["dead"] is AttemptState.ORPHANED
    assert states["alive"] is AttemptState.RUNNING
    assert len(states) == 5
    clock.advance(8 * 86_400)
    ledger.attempts.heartbeat("alive", clock.now())
    reaper.step(clock.now())
    assert [a.id for a in ledger.attempts.list()] == ["alive"]


def test_claims_of_the_silent_are_freed(ledger: Ledger, clock: FrozenClock) -> None:
    """S17: the view of a runner that died can be refreshed by others."""
    ledger.claims.claim("v", "a1", this_process(), clock.now(), 30)
    clock.advance(31)
    assert Reaper(ledger, HistoryLimits()).close_orphans(clock.now())[0] == "a1"
    assert ledger.claims.list() == ()


# --- membership ---------------------------------------------------------------------------------


def runner(id_: str, beat: int) -> RunnerRecord:
    return RunnerRecord(id_, id_, RunnerState.ACTIVE, beat, 1, 0, START, START)


def test_silence_is_judged_by_the_observers_own_clock() -> None:
    """A runner whose beat grows is alive, however wrong the times in its row are."""
    members, now = Membership(30), START
    for second in range(0, 40, 5):
        seen = [runner("steady", second), runner("dead", 1)]
        silent = members.observe(seen, now + timedelta(seconds=second))
    assert silent == {"dead"}


def test_time_in_which_nobody_could_look_counts_for_nobody() -> None:
    """After an outage of the ledger all runners get their whole limit again."""
    members = Membership(30)
    seen = [runner("a", 1), runner("b", 1)]
    members.observe(seen, START)
    assert members.observe(seen, START + timedelta(seconds=300)) == frozenset()
    late = START + timedelta(seconds=300)
    for second in range(0, 30, 5):
        assert members.observe([runner("a", 2), seen[1]], late + timedelta(seconds=second)) == set()
    assert members.observe([runner("a", 3), seen[1]], late + timedelta(seconds=31)) == {"b"}


# --- purge --------------------------------------------------------------------------------------


def at(version: int, table: str = "t") -> Frontier:
    return Frontier.of({"s": SourceVersion(table, version)})


def add_view(ledger: Ledger, name: str, frontier: Frontier) -> None:
    ledger.views.create(name, path=f"/{name}", fingerprint="", compiled="{}", frontier=frontier)


def test_nothing_goes_that_a_view_still_building_needs(ledger: Ledger) -> None:
    """S24: the floor is the lowest frontier of all readers; an unknown need keeps everything."""
    add_view(ledger, "ahead", at(90))
    add_view(ledger, "behind", at(40))
    readers = ["ahead", "behind"]
    assert floor("s", "t", ledger.views.list(), readers, 1000) == 40
    add_view(ledger, "building", Frontier())
    assert floor("s", "t", ledger.views.list(), [*readers, "building"], 1000) is None
    ledger.views.move_frontier("building", expected=Frontier(), frontier=at(12))
    assert floor("s", "t", ledger.views.list(), [*readers, "building"], 1000) == 12
    assert floor("s", "t", ledger.views.list(), [*readers, "unheard of"], 1000) is None


def test_the_users_retention_is_never_undercut(ledger: Ledger) -> None:
    """S24: what the user's own retention keeps stays, however far all views are."""
    add_view(ledger, "ahead", at(90))
    assert floor("s", "t", ledger.views.list(), ["ahead"], 30) == 30
    assert floor("s", "other", ledger.views.list(), ["ahead"], 30) is None


class History:
    table_id = "t"

    def __init__(self, clock: FrozenClock, seconds: float) -> None:
        self.clock, self.seconds = clock, seconds
        self.marked, self.deleted = 0, []

    def mark(self) -> int:
        return self.marked

    def first_after(self, moment: datetime) -> int:
        return 0

    def delete(self, first: int, end: int) -> None:
        self.clock.advance(self.seconds * (end - first))
        self.deleted.append((first, end))

    def move_mark(self, version: int) -> None:
        self.marked = version


def test_batches_adapt_and_the_mark_moves_when_all_is_done(clock: FrozenClock) -> None:
    """Quick batches grow, slow ones shrink; a purge that is cut leaves the mark where it was."""
    quick = History(clock, 0)
    assert purge(quick, 1000, now=clock.now).done
    sizes = [end - first for first, end in quick.deleted]
    assert sizes == [100, 200, 400, 300]
    assert quick.marked == 1000
    slow = History(clock, 0.1)
    purge(slow, 300, now=clock.now)
    sizes = [end - first for first, end in slow.deleted]
    assert sizes[:3] == [100, 50, 25]
    assert sum(sizes) == 300
    cut = History(clock, 0)
    done = purge(cut, 1000, now=clock.now, cancelled=lambda: len(cut.deleted) == 2)
    assert (done.done, cut.marked) == (False, 0)
    assert purge(quick, 500, now=clock.now).mark == 1000
