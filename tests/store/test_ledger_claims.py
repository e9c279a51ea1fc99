"""Claims: one refresher per view, taken over from the dead and the silent only."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta

import pytest

from headwater.store import Ledger, Owner, this_process
from headwater.store.owner import is_dead
from headwater.testing.clock import FrozenClock
from headwater.vocabulary.clock import SystemClock
from headwater.vocabulary.errors import RefreshRunning
from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.receipt import AttemptState

LIMIT = 30.0
FAR = Owner("far-away", "boot", 4711, "123")
FARTHER = Owner("farther-away", "boot", 4711, "123")

HOLD = """
import sys
from headwater.store import Ledger, this_process
from headwater.vocabulary.clock import SystemClock
from headwater.vocabulary.frontier import Frontier
clock = SystemClock()
ledger = Ledger.open(sys.argv[1], clock)
with ledger.transaction():
    ledger.claims.claim("v", "victim", this_process(), clock.now(), 3600)
    ledger.attempts.start("victim", "v", "view:v", manual=False, started_at=clock.now(),
                          frontier_before=Frontier())
print("held", flush=True)
sys.stdin.readline()
"""

ROUNDS = """
import os, random, sys, time
from headwater.store import Ledger, this_process
from headwater.vocabulary.clock import SystemClock
from headwater.vocabulary.errors import RefreshRunning
url, flag, me, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
clock, owner = SystemClock(), this_process()
ledger = Ledger.open(url, clock, timeout_seconds=30)
print("ready", flush=True)
sys.stdin.readline()
fences = []
while len(fences) < rounds:
    try:
        claim = ledger.claims.claim("v", f"{me}-{len(fences)}", owner, clock.now(), 3600)
    except RefreshRunning as refusal:
        assert "process" in refusal.what or "many" in refusal.what, refusal
        time.sleep(random.random() * 0.002)
        continue
    os.close(os.open(flag, os.O_CREAT | os.O_EXCL))  # fails if the other one is inside too
    assert ledger.claims.renew(claim, clock.now())
    os.unlink(flag)
    fences.append(claim.fence)
    ledger.claims.release(claim)
print(*fences)
"""


def start(ledger: Ledger, clock: FrozenClock, attempt: str) -> None:
    ledger.attempts.start(
        attempt, "v", "view:v", manual=False, started_at=clock.now(), frontier_before=Frontier()
    )


def state(ledger: Ledger, attempt: str) -> AttemptState:
    found = ledger.attempts.get(attempt)
    assert found is not None
    return found.state


def test_the_second_refresher_is_refused_at_once(ledger: Ledger, clock: FrozenClock) -> None:
    """S21, S48: a held claim is refused, naming the running attempt, its owner and its age."""
    claim = ledger.claims.claim("v", "a1", this_process(), clock.now(), LIMIT)
    clock.advance(12)
    with pytest.raises(RefreshRunning) as caught:
        ledger.claims.claim("v", "a2", FAR, clock.now(), LIMIT)
    said = str(caught.value)
    assert "attempt a1" in said
    assert f"process {os.getpid()} on {claim.owner.host}" in said
    assert "12 s" in said
    assert "headwater cancel a1" in said
    assert ledger.claims.get("v") == claim


def test_two_threads_of_one_process_are_two_refreshers(ledger: Ledger, clock: FrozenClock) -> None:
    """The same owner with another attempt is refused like anybody."""
    ledger.claims.claim("v", "a1", this_process(), clock.now(), LIMIT)
    with pytest.raises(RefreshRunning):
        ledger.claims.claim("v", "a2", this_process(), clock.now(), LIMIT)


def test_views_are_claimed_independently(ledger: Ledger, clock: FrozenClock) -> None:
    """A claim on one view does not hinder another."""
    for view in ("v", "w"):
        ledger.claims.claim(view, f"on-{view}", this_process(), clock.now(), LIMIT)
    assert [c.attempt for c in ledger.claims.list()] == ["on-v", "on-w"]


def test_a_released_claim_is_free_and_the_fence_grows(ledger: Ledger, clock: FrozenClock) -> None:
    """Each grant has a higher number than all before; releasing twice is harmless."""
    fences = []
    for number in range(4):
        claim = ledger.claims.claim("v", f"a{number}", FAR, clock.now(), LIMIT)
        fences.append(claim.fence)
        ledger.claims.release(claim)
        ledger.claims.release(claim)
        assert ledger.claims.get("v") is None
    assert fences == sorted(set(fences))
    assert ledger.claims.list() == ()


def test_a_lost_answer_may_be_asked_for_again(ledger: Ledger, clock: FrozenClock) -> None:
    """The same attempt of the same owner gets the claim that it already has."""
    claim = ledger.claims.claim("v", "a1", FAR, clock.now(), LIMIT)
    assert ledger.claims.claim("v", "a1", FAR, clock.advance(1), LIMIT) == claim


def test_a_renewed_claim_does_not_expire(ledger: Ledger, clock: FrozenClock) -> None:
    """A claim lives on for its limit from the last renewal, to the instant."""
    claim = ledger.claims.claim("v", "a1", FAR, clock.now(), LIMIT)
    for _ in range(5):
        assert ledger.claims.renew(claim, clock.advance(20))
    clock.advance(LIMIT - 0.001)
    with pytest.raises(RefreshRunning):
        ledger.claims.claim("v", "a2", FARTHER, clock.now(), LIMIT)
    clock.advance(0.001)
    assert ledger.claims.claim("v", "a2", FARTHER, clock.now(), LIMIT).fence > claim.fence


def test_who_lost_the_claim_cannot_touch_it(ledger: Ledger, clock: FrozenClock) -> None:
    """After a takeover the old holder's renewal fails and its release frees nothing."""
    start(ledger, clock, "a1")
    old = ledger.claims.claim("v", "a1", FAR, clock.now(), LIMIT)
    new = ledger.claims.claim("v", "a2", FARTHER, clock.advance(LIMIT), LIMIT)
    assert state(ledger, "a1") is AttemptState.ORPHANED
    assert not ledger.claims.renew(old, clock.now())
    ledger.claims.release(old)
    assert ledger.claims.get("v") == new


def test_a_renewal_beats_a_takeover_that_has_only_looked(
    ledger: Ledger, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim renewed between the look and the grab stays, and its attempt is not orphaned."""
    start(ledger, clock, "a1")
    claim = ledger.claims.claim("v", "a1", FAR, clock.now(), LIMIT)
    clock.advance(LIMIT)
    grant = ledger.claims._grant

    def renewed_just_before(*arguments: object) -> bool:
        ledger.claims.renew(claim, clock.now())
        return grant(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ledger.claims, "_grant", renewed_just_before)
    with pytest.raises(RefreshRunning):
        ledger.claims.claim("v", "a2", FARTHER, clock.now(), LIMIT)
    assert state(ledger, "a1") is AttemptState.RUNNING
    assert ledger.claims.renew(claim, clock.now())


def test_a_finished_attempt_is_not_orphaned_by_a_takeover(
    ledger: Ledger, clock: FrozenClock
) -> None:
    """A process killed between closing its attempt and releasing keeps its true outcome."""
    start(ledger, clock, "a1")
    ledger.claims.claim("v", "a1", FAR, clock.now(), LIMIT)
    ledger.attempts.finish("a1", AttemptState.SUCCEEDED, ended_at=clock.now())
    ledger.claims.claim("v", "a2", FARTHER, clock.advance(LIMIT), LIMIT)
    assert state(ledger, "a1") is AttemptState.SUCCEEDED


def test_a_sweep_frees_only_what_is_forfeit(ledger: Ledger, clock: FrozenClock) -> None:
    """Sweeping frees silent claims, orphans their attempts and leaves living ones alone."""
    start(ledger, clock, "silent")
    silent = ledger.claims.claim("v", "silent", FAR, clock.now(), LIMIT)
    clock.advance(LIMIT)
    alive = ledger.claims.claim("w", "alive", FAR, clock.now(), LIMIT)
    assert ledger.claims.sweep(clock.now()) == (silent,)
    assert ledger.claims.sweep(clock.now()) == ()
    assert state(ledger, "silent") is AttemptState.ORPHANED
    assert ledger.claims.list() == (alive,)
    assert ledger.claims.claim("v", "next", FARTHER, clock.now(), LIMIT).fence > silent.fence


@pytest.mark.parametrize("reaped", [True, False], ids=["reaped", "zombie"])
def test_a_killed_owner_of_this_host_is_replaced_at_once(
    ledger: Ledger, ledger_url: str, spawn, reaped: bool
) -> None:
    """S17: after kill -9 the next refresher need not wait; the victim's attempt is orphaned."""
    clock = SystemClock()
    victim = spawn(HOLD, ledger_url)
    assert victim.stdout.readline() == "held\n"
    with pytest.raises(RefreshRunning, match=f"victim.*process {victim.pid} "):
        ledger.claims.claim("v", "a2", this_process(), clock.now(), LIMIT)
    assert ledger.claims.sweep(clock.now()) == ()
    victim.kill()
    if reaped:
        victim.wait()
    else:
        os.waitid(os.P_PID, victim.pid, os.WEXITED | os.WNOWAIT)
    claim = ledger.claims.claim("v", "a2", this_process(), clock.now(), LIMIT)
    assert claim.fence == 2
    assert state(ledger, "victim") is AttemptState.ORPHANED


def test_death_is_concluded_only_where_it_can_be_seen() -> None:
    """Another host, another boot, another namespace: alive for all we know."""
    me = this_process()
    assert not is_dead(me)
    assert is_dead(replace(me, process_started="1"))  # the number was given to a later process
    assert is_dead(replace(me, pid=2**22 + 1))
    assert not is_dead(replace(me, host="elsewhere", pid=2**22 + 1))
    assert not is_dead(replace(me, boot="another boot", pid=2**22 + 1))


def test_a_dead_owner_elsewhere_is_replaced_after_the_limit(
    ledger: Ledger, clock: FrozenClock
) -> None:
    """A process of another host is waited for, because nobody here can know it is dead."""
    gone = replace(this_process(), host="elsewhere", pid=2**22 + 1)
    ledger.claims.claim("v", "a1", gone, clock.now(), LIMIT)
    with pytest.raises(RefreshRunning):
        ledger.claims.claim("v", "a2", this_process(), clock.advance(LIMIT - 1), LIMIT)
    assert ledger.claims.claim("v", "a2", this_process(), clock.advance(1), LIMIT)


def test_two_processes_never_hold_one_view(ledger_url: str, spawn, tmp_path) -> None:
    """S21: in hundreds of rounds two processes never hold the claim at the same time."""
    rounds = 200
    flag = str(tmp_path / "inside")
    Ledger.open(ledger_url, FrozenClock()).close()
    racers = [spawn(ROUNDS, ledger_url, flag, name, str(rounds)) for name in "ab"]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    outcomes = [racer.communicate(timeout=120) for racer in racers]
    assert [racer.returncode for racer in racers] == [0, 0], outcomes
    ours, theirs = ([int(f) for f in out.split()] for out, _ in outcomes)
    assert ours == sorted(ours)
    assert theirs == sorted(theirs)
    assert sorted(ours + theirs) == list(range(1, 2 * rounds + 1))


def test_expiry_is_told_by_the_claim(clock: FrozenClock, ledger: Ledger) -> None:
    """A claim knows when it runs out."""
    claim = ledger.claims.claim("v", "a1", FAR, clock.now(), LIMIT)
    assert claim.expires_at == clock.now() + timedelta(seconds=LIMIT)
    assert not claim.is_forfeit(clock.now())
    assert claim.is_forfeit(clock.advance(LIMIT))


def test_a_hidden_process_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that exists but may not be looked at is not taken for dead."""
    hidden = replace(this_process(), pid=2**22 + 1)

    def refuse(pid: int, signal: int) -> None:
        raise PermissionError(pid, signal)

    monkeypatch.setattr("os.kill", refuse)
    assert not is_dead(hidden)


def test_finishing_belongs_to_one_grant(ledger: Ledger, clock: FrozenClock) -> None:
    """S48: who commits says so; the next grant begins anew, and a loser's word counts nothing."""
    claim = ledger.claims.claim("v", "a1", this_process(), clock.now(), LIMIT)
    assert ledger.claims.finish(claim)
    assert ledger.claims.list()[0].is_finishing
    ledger.claims.release(claim)
    again = ledger.claims.claim("v", "a2", this_process(), clock.now(), LIMIT)
    assert not ledger.claims.finish(claim)
    assert ledger.claims.get("v") == again
