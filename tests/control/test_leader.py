"""One coordinator at a time."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from headwater.control.leader import Leader
from headwater.store import Ledger, Term
from headwater.store.jobs import Duty
from headwater.testing.clock import FrozenClock
from headwater.testing.faults import SkewedClock
from headwater.vocabulary.clock import SystemClock
from headwater.vocabulary.errors import LeaseLost
from headwater.vocabulary.lifecycle.command import CommandKind
from headwater.vocabulary.lifecycle.job import JobKind
from headwater.vocabulary.settings import ControlSettings

SETTINGS = ControlSettings(lease_seconds=15, renew_seconds=5)
DUTY = Duty("v", "v", JobKind.REFRESH, "s", "{}")


def contenders(ledger: Ledger, clock: FrozenClock, count: int) -> list[Leader]:
    return [Leader(ledger.leases, f"c{n}", clock, SETTINGS) for n in range(count)]


def leading(leaders: list[Leader]) -> list[Leader]:
    return [leader for leader in leaders if leader.term is not None]


def test_of_many_contenders_one_leads_and_every_stop_is_followed(
    ledger: Ledger, clock: FrozenClock
) -> None:
    """S68: 20 contenders, the leader stopped 10 times: never two, terms grow, failover in time."""
    alive = contenders(ledger, clock, 20)
    terms = []
    for _ in range(10):
        waited = 0
        while not leading(alive):
            for leader in alive:
                leader.step()
            assert len(leading(alive)) <= 1
            clock.advance(1)
            waited += 1
        assert waited <= SETTINGS.lease_seconds + 5
        (leader,) = leading(alive)
        assert leader.term is not None
        terms.append(leader.term.number)
        alive.remove(leader)  # stopped without a word
    assert terms == sorted(set(terms))


def test_a_leader_that_keeps_renewing_stays(ledger: Ledger, clock: FrozenClock) -> None:
    """Nobody takes over from a leader that renews."""
    first, *others = contenders(ledger, clock, 5)
    first.step()
    for _ in range(120):
        clock.advance(1)
        first.step()
        for other in others:
            assert not other.step()
    assert first.term == Term(1, "c0")


def test_a_leader_that_steps_down_is_followed_at_once(ledger: Ledger, clock: FrozenClock) -> None:
    """Letting go spares the others the wait."""
    first, second = contenders(ledger, clock, 2)
    first.step()
    assert not second.step()
    first.step_down()
    assert second.step()
    assert second.term == Term(2, "c1")


def test_clocks_that_differ_by_hours_do_not_matter(ledger: Ledger, clock: FrozenClock) -> None:
    """A contender whose clock is far ahead or behind takes over neither too early nor never."""
    leaders = [
        Leader(ledger.leases, f"c{n}", SkewedClock(clock, skew), SETTINGS)
        for n, skew in enumerate((0, 7200, -7200))
    ]
    for second in range(60):
        for leader in leaders:
            leader.step()
        assert len(leading(leaders)) == 1, second
        clock.advance(1)
    leaders.pop(0)
    for _ in range(20):
        clock.advance(1)
        for leader in leaders:
            leader.step()
    assert len(leading(leaders)) == 1


def test_a_leader_stopped_beyond_its_lease_writes_nothing(
    ledger: Ledger, clock: FrozenClock
) -> None:
    """S40, S68: whatever a leader without its lease still believes, no control write lands."""
    first, second = contenders(ledger, clock, 2)
    first.step()
    old = first.term
    assert old is not None
    ledger.jobs.register(DUTY, term=old, next_at=None, now=clock.now())
    (job,) = ledger.jobs.list()
    ledger.runners.register("r", "a", 1, clock.now())
    ledger.commands.create("r", CommandKind.START, job.id, term=old, now=clock.now())
    (command,) = ledger.commands.pending()
    second.step()
    clock.advance(16)
    assert second.step()
    now, (runner,) = clock.now(), ledger.runners.list()
    before = (ledger.jobs.list(), ledger.runners.list(), ledger.commands.pending())
    other = Duty("w", "w", JobKind.REFRESH, "s", "{}")
    assert not ledger.jobs.register(other, term=old, next_at=None, now=now)
    assert not ledger.jobs.respecify(job.id, other, term=old, next_at=None, reschedule=True)
    assert not ledger.jobs.drop(job.id, term=old, now=now)
    assert not ledger.jobs.assign(job.id, "r", term=old)
    assert ledger.jobs.free_lost(term=old) == 0
    assert not ledger.commands.create("r", CommandKind.STOP, job.id, term=old, now=now)
    assert not ledger.commands.withdraw(command.id, "", term=old, now=now)
    with pytest.raises(LeaseLost):
        ledger.runners.remove(runner, old)
    with pytest.raises(LeaseLost), ledger.leases.held(old):
        raise AssertionError
    assert (ledger.jobs.list(), ledger.runners.list(), ledger.commands.pending()) == before
    assert first.term is None
    assert not first.step()


def test_a_grant_whose_answer_was_lost_is_no_obstacle(ledger: Ledger, clock: FrozenClock) -> None:
    """A contender that already has the lease without knowing it need not wait for itself."""
    ledger.leases.acquire("c0", None, clock.now())
    (leader,) = contenders(ledger, clock, 1)
    assert leader.step()
    assert leader.term == Term(2, "c0")


def test_real_threads_never_lead_together(ledger_url: str) -> None:
    """S68 on real clocks: threads contend and stop at random; held terms never overlap."""
    settings = ControlSettings(lease_seconds=0.6, renew_seconds=0.1)
    inside = threading.Lock()
    overlaps, terms = [], set()
    stop = threading.Event()

    def contend(number: int) -> None:  # SQLite lets in who happens to ask, and some wait long
        with Ledger.open(ledger_url, SystemClock(), timeout_seconds=60) as ledger:
            leader = Leader(ledger.leases, f"t{number}", SystemClock(), settings)
            while not stop.is_set():
                leader.step()
                term = leader.term
                if term is None:
                    stop.wait(0.02)
                    continue
                with ledger.leases.held(term):
                    if not inside.acquire(blocking=False):
                        overlaps.append(term)
                        continue
                    terms.add(term.number)
                    stop.wait(0.01)
                    inside.release()
                if term.number % 2:
                    leader.step_down()
                else:
                    leader = Leader(ledger.leases, f"t{number}'", SystemClock(), settings)

    Ledger.open(ledger_url, SystemClock()).close()
    threads = [threading.Thread(target=contend, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    stop.wait(6)
    stop.set()
    for thread in threads:
        thread.join(30)
    assert overlaps == []
    assert len(terms) >= 4


def test_the_holders_time_ends_before_anybody_elses_begins(
    ledger: Ledger, clock: FrozenClock
) -> None:
    """The holder counts from before it asked, the contender from when it saw: no overlap."""
    first, second = contenders(ledger, clock, 2)
    first.step()
    second.step()
    clock.advance(SETTINGS.lease_seconds - 0.001)
    assert first.term is not None
    assert not second.step()
    clock.advance(0.001)
    assert first.term is None
    assert second.step()
    assert second.leading_since == clock.now()
    assert first.leading_since is None
    assert timedelta(0) <= clock.now() - second.leading_since
