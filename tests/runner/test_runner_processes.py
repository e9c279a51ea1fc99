"""Runners as real processes and threads, with real signals, on both databases; no Spark."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from headwater.control.results import SUCCEEDED, RunEnd, RunResult
from headwater.define.trigger import Every
from headwater.runner.backpressure import Backpressure
from headwater.runner.loop import Loop
from headwater.runner.pools import Pools, PoolSettings
from headwater.runner.run import Run
from headwater.runner.runner import Runner
from headwater.runner.workers import PooledWorkers
from headwater.store import Ledger
from headwater.testing.fleet import Node, define, source_def, view_def
from headwater.vocabulary.clock import SystemClock
from headwater.vocabulary.lifecycle.job import JobState
from headwater.vocabulary.settings import ControlSettings

QUICK = ControlSettings(
    lease_seconds=2,
    renew_seconds=0.4,
    settle_seconds=0.2,
    tick_seconds=0.1,
    report_seconds=0.4,
    poll_seconds=0.3,
    silent_seconds=3,
    reconcile_seconds=1,
    retry_base_seconds=0.2,
    busy_seconds=0.1,
    reap_seconds=1,
)

PROCESS = """
import json, sys, time
from headwater.testing.serving import serve_simply
serve_simply(sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4]))
"""
"""A process with a runner and a coordinator, whose work is a line in a file when it begins and
when it ends."""


def views(ledger: Ledger, count: int, seconds: float) -> None:
    every = Every(timedelta(seconds=seconds))
    define(ledger, [source_def(f"s{n}") for n in range(count)])
    define(ledger, [view_def(f"v{n}", f"s{n}", trigger=every) for n in range(count)])


def wait_for(what: Callable[[], object], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.05)


class Processes:
    """Serving processes that write down every run's beginning and end."""

    def __init__(self, url: str, folder: Path, spawn) -> None:
        self.url, self.folder, self.spawn = url, folder, spawn
        self.started: list[subprocess.Popen[str]] = []

    def start(self, address: str) -> subprocess.Popen[str]:
        journal = self.folder / f"{len(self.started)}.jsonl"
        quick = json.dumps({k: getattr(QUICK, k) for k in QUICK.__dataclass_fields__})
        process = self.spawn(PROCESS, self.url, address, str(journal), quick)
        self.started.append(process)
        return process

    def lines(self) -> list[dict]:
        found = []
        for file in sorted(self.folder.glob("*.jsonl")):
            text = file.read_text("utf-8").splitlines()
            found += [json.loads(line) for line in text if line.endswith("}")]
        return sorted(found, key=lambda line: line["at"])


@pytest.fixture
def processes(ledger_url: str, tmp_path: Path, spawn) -> Processes:
    return Processes(ledger_url, tmp_path, spawn)


@pytest.fixture
def seen(ledger_url: str) -> Iterator[Ledger]:
    with Ledger.open(ledger_url, SystemClock()) as opened:
        yield opened


def owners(ledger: Ledger) -> dict[str, str | None]:
    addresses = {runner.id: runner.address for runner in ledger.runners.list()}
    jobs = [job for job in ledger.jobs.list() if not job.name.startswith("sys$")]
    return {job.name: addresses.get(job.owner or "") for job in jobs}


def test_kill_and_stop_leave_one_owner_and_lose_no_run(processes: Processes, seen: Ledger) -> None:
    """S2, S67, S68, S70: SIGKILL, SIGSTOP beyond every limit, SIGCONT, restart: one owner each.

    A process that was stopped and woken finds its registration gone, writes nothing of its old
    runs, and takes part again.
    """
    views(seen, 8, seconds=1)
    a, b, c = (processes.start(address) for address in "abc")
    wait_for(lambda: set(owners(seen).values()) == set("abc"), 60)
    a.kill()
    b.send_signal(signal.SIGSTOP)
    wait_for(lambda: set(owners(seen).values()) == {"c"}, 60)
    b.send_signal(signal.SIGCONT)
    processes.start("a")
    wait_for(lambda: set(owners(seen).values()) == set("abc"), 60)
    wait_for(lambda: all(latest(seen).values()), 60)
    before = latest(seen)
    wait_for(lambda: all(at != before[name] for name, at in latest(seen).items()), 60)
    for process in (b, c):
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0, process.stderr.read()
    assert not overlapping(processes.lines())


def latest(ledger: Ledger) -> dict[str, datetime | None]:
    jobs = [job for job in ledger.jobs.list() if not job.name.startswith("sys$")]
    return {job.name: job.last_success for job in jobs}


def overlapping(lines: list[dict]) -> list[tuple[dict, dict]]:
    """Runs of one job that began while another process was at it, though it was registered.

    A run that its process was stopped in is over for everybody else; whatever it does when it is
    woken is refused.
    """
    running: dict[str, dict] = {}
    wrong = []
    for line in lines:
        job = line["job"]
        if line["what"] == "begin":
            other = running.get(job)
            gone = other is not None and line["at"] - other["at"] > QUICK.silent_seconds - 0.5
            if other is not None and other["runner"] != line["runner"] and not gone:
                wrong.append((other, line))
            running[job] = line
        elif running.get(job, {}).get("runner") == line["runner"]:
            running.pop(job)
    return wrong


def test_a_leader_that_ends_cleanly_is_followed_at_once(processes: Processes, seen: Ledger) -> None:
    """Two processes at one ledger: the other need not wait for the lease to run out."""
    views(seen, 2, seconds=1)
    first = processes.start("a")
    wait_for(lambda: set(owners(seen).values()) == {"a"}, 60)
    processes.start("b")
    wait_for(lambda: len(seen.runners.list()) == 2, 60)
    lease = seen.leases.get()
    assert lease is not None
    first.send_signal(signal.SIGTERM)
    assert first.wait(30) == 0
    wait_for(lambda: (now := seen.leases.get()) and now.term > lease.term, 5)
    wait_for(lambda: set(owners(seen).values()) == {"b"}, 10)


# --- threads ------------------------------------------------------------------------------------


class Work:
    """A job's work that lasts until it is told, or canceled."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.began: list[str] = []
        self.canceled: list[str] = []

    def run(self, run: Run) -> RunResult:
        self.began.append(run.job.name)
        if run.job.name == "v1":
            raise ZeroDivisionError("a bug")
        stopped = threading.Event()
        run.cancellation.when_set(stopped.set)
        while not self.go.is_set():
            if stopped.wait(0.01):
                self.canceled.append(run.job.name)
                return RunResult(RunEnd.CANCELED)
        return SUCCEEDED


def test_the_real_loop_with_real_workers(ledger: Ledger) -> None:
    """S9, S10, S12: a bug is recorded, a limit cancels, closing awaits what runs."""
    clock = SystemClock()
    views(ledger, 3, seconds=3600)
    work = Work()
    limits = PoolSettings(workers=8, refresh_limit=timedelta(seconds=1.5))
    pools = Pools(clock, limits, Backpressure(clock, threshold=0))
    workers = PooledWorkers(pools, work)
    node = Node(ledger, clock, QUICK, "a", plan=lambda _run: (0, SUCCEEDED))
    loop: Loop | None = None
    runner = Runner(ledger, clock, QUICK, workers, address="a", wake=lambda: loop and loop.wake())
    node.runner = runner
    loops = (
        Loop("runner", runner.step, clock),
        Loop("coordinator", node.coordinator.step, clock),
    )
    loop = loops[0]
    pools.watch(0.05)
    for each in loops:
        each.start()
    wait_for(lambda: sorted(set(work.began)) == ["v0", "v1", "v2"])
    wait_for(lambda: (found := ledger.jobs.find("v1")[0]).error and found.state is JobState.ERROR)
    wait_for(lambda: set(work.canceled) >= {"v0", "v2"})
    wait_for(lambda: ledger.jobs.find("v0")[0].retry is not None)
    error = ledger.jobs.find("v0")[0].error
    assert error is not None
    assert error["code"] == "TIME_LIMIT"
    work.go.set()
    wait_for(lambda: all(ledger.jobs.find(n)[0].last_success for n in ("v0", "v2")))
    for each in loops:
        assert each.stop(10)
    node.coordinator.close()
    runner.close(5)
    assert ledger.runners.list() == ()


def test_a_loop_survives_anything_its_step_raises() -> None:
    """S9: an exception delays the next step and ends nothing; a wake comes at once."""
    clock, calls = SystemClock(), []

    def step() -> datetime:
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("a bug")
        return clock.now() + timedelta(hours=1)

    loop = Loop("test", step, clock)
    loop.start()
    wait_for(lambda: len(calls) == 2)
    loop.wake()
    wait_for(lambda: len(calls) == 3)
    assert loop.stop(5)
