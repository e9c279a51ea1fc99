"""Bounded pools with real threads on a given clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta

import pytest

from headwater.runner.backpressure import Backpressure, Load
from headwater.runner.pool import _MOST_ABANDONED
from headwater.runner.pools import Pools, PoolSettings
from headwater.runner.work import End, Outcome, Work, WorkKind
from headwater.testing.clock import FrozenClock
from headwater.vocabulary.clock import SystemClock
from headwater.vocabulary.errors import QueueFull, RunnerClosing, TimeLimit
from headwater.vocabulary.settings import RunnerSettings

REFRESH, PURGE, BUILD = WorkKind.REFRESH, WorkKind.PURGE, WorkKind.BUILD


def eventually(holds: Callable[[], bool], seconds: float = 10) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.002)


class Bench:
    """Pools on a frozen clock without backpressure, and work that ends when told."""

    def __init__(self, workers: int | None = None, **settings: object) -> None:
        self.clock = FrozenClock()
        chosen = PoolSettings(workers=workers, **settings)
        self.pools = Pools(self.clock, chosen, Backpressure(self.clock, threshold=0))
        self.outcomes: list[Outcome] = []
        self.started: list[str] = []
        self.cancelled: list[str] = []
        self._ends: dict[str, threading.Event] = {}

    def submit(self, name: str, kind: WorkKind = REFRESH, priority: int = 0, **how: bool) -> None:
        self._ends.setdefault(name, threading.Event())
        self.pools.submit(
            Work(
                kind,
                name,
                lambda: self._run(name),
                self.outcomes.append,
                lambda: self.cancelled.append(name),
                priority,
            ),
            **how,
        )

    def _run(self, name: str) -> str:
        self.started.append(name)
        self._ends[name].wait(30)
        if name.startswith("bad"):
            raise ZeroDivisionError(name)
        return name.upper()

    def end(self, *names: str) -> None:
        for name in names:
            self._ends[name].set()

    def ended(self, end: End = End.FINISHED) -> list[str]:
        return [outcome.name for outcome in self.outcomes if outcome.end is end]

    def running(self, kind: WorkKind = REFRESH) -> int:
        return self.pools.state()[kind].running

    def close(self) -> None:
        self.end(*self._ends)
        assert self.pools.close(10)


@pytest.fixture
def one():
    bench = Bench(1)
    yield bench
    bench.close()


# --- sizes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("total", "sizes"),
    [(1, (1, 1, 1)), (2, (1, 1, 1)), (4, (2, 1, 1)), (8, (5, 1, 2)), (10, (6, 2, 2))],
)
def test_workers_are_shared_out(total: int, sizes: tuple[int, int, int]) -> None:
    """Refreshes get 0.6 of the workers, purges and builds the rest, each kind at least one."""
    assert tuple(PoolSettings(workers=total).sizes().values()) == sizes


def test_there_are_as_many_workers_as_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless told otherwise, and at least two."""
    monkeypatch.setattr("os.cpu_count", lambda: 20)
    assert PoolSettings().sizes() == {REFRESH: 12, PURGE: 4, BUILD: 4}
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert PoolSettings().sizes() == PoolSettings(workers=2).sizes()


# --- order --------------------------------------------------------------------------------------


def test_work_runs_in_the_order_of_its_coming(one: Bench) -> None:
    """FIFO within a priority; what is more urgent overtakes what has not begun."""
    for name in ("a", "b", "c"):
        one.submit(name)
    eventually(lambda: one.started == ["a"])
    one.submit("urgent", priority=5)
    one.submit("also urgent", priority=5)
    one.end("a", "b", "c", "urgent", "also urgent")
    eventually(lambda: len(one.ended()) == 5)
    assert one.started == ["a", "urgent", "also urgent", "b", "c"]


def test_an_outcome_tells_what_came_of_it(one: Bench) -> None:
    """Value, waiting time and running time, by the given clock."""
    one.submit("a")
    one.submit("b")
    eventually(lambda: one.started == ["a"])
    one.clock.advance(7)
    one.end("a")
    eventually(lambda: one.started == ["a", "b"])
    one.clock.advance(2)
    one.end("b")
    eventually(lambda: len(one.outcomes) == 2)
    a, b = one.outcomes
    assert (a.value, a.waited_seconds, a.seconds) == ("A", 0, 7)
    assert (b.value, b.waited_seconds, b.seconds) == ("B", 7, 2)


def test_an_error_is_recorded_and_the_worker_goes_on(one: Bench) -> None:
    """S9: what a job raises is its outcome; the next job runs on the same worker."""
    one.submit("bad")
    one.submit("good")
    one.end("bad", "good")
    eventually(lambda: len(one.outcomes) == 2)
    assert isinstance(one.outcomes[0].error, ZeroDivisionError)
    assert [outcome.end for outcome in one.outcomes] == [End.FAILED, End.FINISHED]


def test_a_broken_callback_kills_nothing(one: Bench) -> None:
    """S9: even if the recording itself fails, the worker goes on."""

    def broken(outcome: Outcome) -> None:
        raise OSError("the ledger is away")

    one.pools.submit(Work(REFRESH, "unlucky", lambda: None, broken))
    one.submit("next")
    one.end("next")
    eventually(lambda: one.ended() == ["next"])


def test_even_a_call_to_exit_is_only_an_outcome(one: Bench) -> None:
    """S9: SystemExit inside a job ends the job, not the worker."""
    one.pools.submit(
        Work(REFRESH, "quitter", lambda: exec("raise SystemExit"), one.outcomes.append)
    )
    one.submit("next")
    one.end("next")
    eventually(lambda: len(one.outcomes) == 2)
    assert isinstance(one.outcomes[0].error, SystemExit)


# --- size while running -------------------------------------------------------------------------


def test_a_pool_is_resized_while_it_works() -> None:
    """S11: a pool of 2 with 5 jobs runs 2; made 4 it runs 4; made 1 it comes down to 1."""
    bench = Bench(3)
    bench.pools.resize({REFRESH: 2})
    names = [f"j{n}" for n in range(5)]
    for name in names:
        bench.submit(name)
    eventually(lambda: bench.running() == 2)
    bench.pools.resize({REFRESH: 4})
    eventually(lambda: bench.running() == 4)
    assert bench.pools.state()[REFRESH].queued == 1
    bench.pools.resize({REFRESH: 1})
    bench.end("j0", "j1", "j2")
    eventually(lambda: len(bench.ended()) == 3)
    assert (bench.running(), bench.started) == (1, names[:4]), "the fifth waits for the fourth"
    bench.end("j3", "j4")
    eventually(lambda: len(bench.ended()) == 5)
    bench.close()


def test_idle_pools_hold_no_threads() -> None:
    """S56: without work there is no worker, and the next work gets one again."""
    bench = Bench(4)
    for round_ in range(2):
        names = [f"r{round_}-{n}" for n in range(6)]
        for name in names:
            bench.submit(name)
        bench.end(*names)
        eventually(lambda expected=6 * (round_ + 1): len(bench.outcomes) == expected)
        eventually(lambda: not any(t.name == "headwater-refresh" for t in threading.enumerate()))
    bench.close()


# --- time limits --------------------------------------------------------------------------------


def test_work_over_its_limit_loses_its_slot(one: Bench) -> None:
    """S10: over its limit the slot is freed, the work cancelled, and its late end told once."""
    one.submit("slow")
    one.submit("next")
    eventually(lambda: one.started == ["slow"])
    one.clock.advance(299)
    one.pools.expire()
    assert one.cancelled == []
    one.clock.advance(1)
    one.pools.expire()
    one.pools.expire()
    assert (one.cancelled, one.ended(End.TIMED_OUT)) == (["slow"], ["slow"])
    assert isinstance(one.outcomes[0].error, TimeLimit)
    eventually(lambda: one.started == ["slow", "next"])
    assert one.pools.state()[REFRESH].late == 1
    one.end("slow")
    eventually(lambda: one.ended(End.LATE) == ["slow"])
    one.end("next")
    eventually(lambda: one.ended() == ["next"])
    assert len(one.outcomes) == 3
    assert one.pools.state()[REFRESH].late == 0


def test_each_kind_has_its_own_limit() -> None:
    """Refreshes have 5 min, purges 10, builds none."""
    bench = Bench(3)
    for kind in WorkKind:
        bench.submit(kind.value, kind)
    eventually(lambda: len(bench.started) == 3)
    bench.clock.advance(5 * 60)
    bench.pools.expire()
    assert bench.cancelled == ["refresh"]
    bench.clock.advance(5 * 60)
    bench.pools.expire()
    assert bench.cancelled == ["refresh", "purge"]
    bench.clock.advance(10**6)
    bench.pools.expire()
    assert bench.cancelled == ["refresh", "purge"]
    bench.close()


def test_work_that_cannot_be_stopped_is_bounded() -> None:
    """When too much cancelled work goes on all the same, no more slots are given away."""
    bench = Bench(1)
    names = [f"stuck{n}" for n in range(_MOST_ABANDONED + 3)]
    for name in names:
        bench.submit(name)
    for started in range(1, _MOST_ABANDONED + 2):
        eventually(lambda started=started: len(bench.started) == started)
        bench.clock.advance(300)
        bench.pools.expire()
        bench.pools.expire()
    time.sleep(0.05)
    assert len(bench.started) == _MOST_ABANDONED + 1
    assert len(bench.cancelled) == _MOST_ABANDONED + 1, "each is cancelled once"
    bench.close()


def test_limits_are_watched_by_themselves() -> None:
    """S10: with the real clock and the watching thread, nobody has to ask."""
    ended: list[Outcome] = []
    stop = threading.Event()
    settings = PoolSettings(workers=1, refresh_limit=timedelta(milliseconds=50))
    clock = SystemClock()
    pools = Pools(clock, settings, Backpressure(clock, threshold=0))
    pools.watch(0.01)
    pools.submit(Work(REFRESH, "slow", lambda: stop.wait(30), ended.append, stop.set))
    eventually(lambda: [outcome.end for outcome in ended] == [End.TIMED_OUT, End.LATE])
    assert pools.close(5)


# --- bounds and shares --------------------------------------------------------------------------


def test_outside_work_is_bounded_and_follow_ups_are_not() -> None:
    """A full queue refuses what comes from outside at once, and takes internal follow-ups."""
    bench = Bench(1, most_queued=2)
    bench.submit("running")
    eventually(lambda: bench.started == ["running"])
    bench.submit("a")
    bench.submit("b")
    with pytest.raises(QueueFull):
        bench.submit("c")
    bench.submit("follow-up", internal=True)
    assert bench.pools.state()[REFRESH].queued == 3
    bench.close()


def test_a_flood_of_purges_leaves_refreshes_their_share() -> None:
    """S14: a thousand purges wait in their own queue; a refresh starts at once."""
    bench = Bench(2)
    for number in range(1000):
        bench.submit(f"purge{number}", PURGE)
    bench.submit("refresh")
    eventually(lambda: "refresh" in bench.started)
    assert bench.running(PURGE) == 1
    bench.close()


def test_withdrawn_work_never_starts(one: Bench) -> None:
    """S15: a job dropped while it is queued does not run; one that runs is left alone."""
    one.submit("running")
    eventually(lambda: one.started == ["running"])
    one.submit("dropped")
    one.submit("kept")
    assert one.pools.withdraw(REFRESH, "dropped")
    assert not one.pools.withdraw(REFRESH, "running")
    one.end("running", "kept")
    eventually(lambda: one.ended() == ["running", "kept"])
    assert one.started == ["running", "kept"]


def test_running_work_is_cancelled_by_name(one: Bench) -> None:
    """S16: only what runs is asked to end."""
    one.submit("running")
    one.submit("queued")
    eventually(lambda: one.started == ["running"])
    assert one.pools.cancel(REFRESH, "running")
    assert not one.pools.cancel(REFRESH, "queued")
    assert one.cancelled == ["running"]


def test_submitting_from_many_threads_loses_nothing() -> None:
    """No wake-up is lost between a worker that stops and work that comes."""
    bench = Bench(4, most_queued=10**6)

    def flood(start: int) -> None:
        for number in range(start, start + 500):
            bench.submit(f"n{number}")
            bench.end(f"n{number}")

    threads = [threading.Thread(target=flood, args=(500 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    eventually(lambda: len(bench.outcomes) == 2000)
    assert len(set(bench.ended())) == 2000
    bench.close()


# --- close --------------------------------------------------------------------------------------


def test_close_with_queued_work() -> None:
    """S12: queued work is dropped, running work awaited, new work refused; twice is harmless."""
    bench = Bench(1)
    bench.submit("running")
    bench.submit("queued")
    eventually(lambda: bench.started == ["running"])
    closed: list[bool] = []
    closing = threading.Thread(target=lambda: closed.append(bench.pools.close(30)))
    closing.start()
    eventually(lambda: bench.ended(End.DROPPED) == ["queued"])
    with pytest.raises(RunnerClosing):
        bench.submit("new", internal=True)
    assert closed == []
    bench.end("running")
    closing.join(10)
    assert (closed, bench.ended(), bench.started) == ([True], ["running"], ["running"])
    assert bench.pools.close(30)


def test_close_has_a_limit() -> None:
    """S12: what does not end in time is cancelled, and close says that it did not."""
    clock = SystemClock()
    pools = Pools(clock, PoolSettings(workers=1), Backpressure(clock, threshold=0))
    stop, started = threading.Event(), threading.Event()

    def run() -> None:
        started.set()
        stop.wait(30)

    pools.submit(Work(REFRESH, "stubborn", run, lambda outcome: None, stop.set))
    assert started.wait(10)
    assert not pools.close(0.1)
    assert stop.is_set()
    eventually(lambda: pools.close(0.1))


# --- backpressure -------------------------------------------------------------------------------


def test_a_busy_machine_starts_nothing() -> None:
    """S13: CPU at 90 %: no start, submit returns, close does not hang; freed, it starts."""
    clock = SystemClock()
    load = [Load(0.9, 0.2)]
    ended: list[Outcome] = []
    pools = Pools(clock, PoolSettings(workers=1), Backpressure(clock, lambda: load[0]))
    began = time.monotonic()
    for name in ("a", "b"):
        pools.submit(Work(REFRESH, name, lambda: None, ended.append))
    assert time.monotonic() - began < 0.1
    time.sleep(0.35)
    assert ended == []
    load[0] = Load(0.5, 0.2)
    eventually(lambda: len(ended) == 2)
    load[0] = Load(0.1, 0.95)
    pools.submit(Work(REFRESH, "c", lambda: None, ended.append))
    time.sleep(0.15)
    began = time.monotonic()
    assert pools.close(30)
    assert time.monotonic() - began < 1
    assert [outcome.end for outcome in ended] == [End.FINISHED, End.FINISHED, End.DROPPED]


def test_settings_become_pools() -> None:
    """headwater.toml's numbers are the pools'; 0 stands for no limit and for all cores."""
    assert PoolSettings.of(RunnerSettings()) == PoolSettings()
    chosen = PoolSettings.of(RunnerSettings(workers=3, refresh_limit_seconds=0, most_queued=9))
    assert chosen == PoolSettings(workers=3, refresh_limit=None, most_queued=9)
    assert not Backpressure.of(RunnerSettings(busy_threshold=0), FrozenClock()).is_busy
