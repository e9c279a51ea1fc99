"""The control plane without Spark: many jobs, many runners, many sources."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import psutil

from benchmarks.figures import Figure
from headwater.capture.listing import commit_name
from headwater.control.leader import Leader
from headwater.control.placement import Ring
from headwater.control.results import SUCCEEDED, RunResult
from headwater.control.spec import Spec
from headwater.control.triggers import Every, OnChange
from headwater.runner.backpressure import Backpressure
from headwater.runner.pools import Pools, PoolSettings
from headwater.runner.run import Run
from headwater.runner.runner import Runner
from headwater.runner.watching import SourceWatch
from headwater.runner.workers import PooledWorkers
from headwater.store.jobs import Duty
from headwater.store.ledger import Ledger
from headwater.vocabulary.clock import Clock, SystemClock
from headwater.vocabulary.lifecycle.job import JobKind
from headwater.vocabulary.settings import ControlSettings

GROUP = "control plane"
_SEED = 5


class SkippingClock:
    """Runs with the machine's, and over every wait in no time: an hour of idling takes seconds."""

    def __init__(self) -> None:
        self._skipped = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self._skipped

    def sleep(self, seconds: float) -> None:
        self._skipped += timedelta(seconds=max(0.0, seconds))

    def skip_to(self, moment: datetime) -> None:
        self.sleep((moment - self.now()).total_seconds())


# --- jobs of one runner -------------------------------------------------------------------------


def idle_jobs(folder: Path, jobs: int = 100_000) -> list[Figure]:
    """What a runner costs whose jobs have nothing to do; measured in a process of its own."""
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "benchmarks.control", str(folder), str(jobs)]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    share, megabytes, loading = map(float, out.split()[-3:])
    return [
        Figure(GROUP, f"{jobs:,} idle jobs on one runner", 100 * share, "% of a core", 1),
        Figure(GROUP, f"{jobs:,} idle jobs, Python process", megabytes, "MB", 400),
        Figure(GROUP, f"{jobs:,} jobs loaded by a new runner", loading, "s"),
    ]


def _idle(folder: Path, jobs: int, hours: float = 1.0) -> tuple[float, float, float]:
    """Share of a core over an hour by the clock, megabytes, and seconds of the first load."""
    clock = SkippingClock()
    with _runner(folder, clock, jobs) as (ledger, runner):
        _give(ledger, runner, jobs, clock.now() + timedelta(days=1))
        began = time.perf_counter()
        runner.step()
        loading = time.perf_counter() - began
        while runner.in_hand:  # a job that follows commits runs once when it is new here
            runner.step()
            time.sleep(0.01)
        since, worked = clock.now(), time.process_time()
        while clock.now() - since < timedelta(hours=hours):
            clock.skip_to(runner.step())
        share = (time.process_time() - worked) / (clock.now() - since).total_seconds()
        return share, psutil.Process().memory_info().rss / 2**20, loading


def due_jobs(folder: Path, jobs: int = 10_000) -> list[Figure]:
    """All jobs are due at once: how long until the last has begun, and whether in order."""
    folder.mkdir(parents=True)
    clock = SystemClock()
    begun: list[int] = []
    with _runner(folder, clock, jobs, begun.append) as (ledger, runner):
        _give(ledger, runner, jobs, clock.now() - timedelta(hours=1), apart=timedelta(seconds=0.01))
        began = time.perf_counter()
        while len(begun) < jobs:
            runner.step()
            time.sleep(0.001)
        took = time.perf_counter() - began
    early = sum(later < before for before, later in pairwise(begun))
    return [
        Figure(GROUP, f"{jobs:,} due jobs started", took, "s", 10),
        Figure(GROUP, "of them before one that was due earlier", early, "", 0),
    ]


class _Nothing:
    """Work that only says which job it was."""

    def __init__(self, tell: Callable[[int], None]) -> None:
        self._tell = tell

    def run(self, run: Run) -> RunResult:
        self._tell(run.job.id)
        return SUCCEEDED


@contextmanager
def _runner(
    folder: Path, clock: Clock, most_queued: int, tell: Callable[[int], None] = lambda _: None
) -> Iterator[tuple[Ledger, Runner]]:
    """A registered runner with one worker for refreshes."""
    ledger = Ledger.open(f"sqlite:///{folder}/ledger.db", clock)
    settings = PoolSettings(workers=1, most_queued=most_queued)
    pools = Pools(clock, settings, Backpressure(clock, threshold=0))
    workers = PooledWorkers(pools, _Nothing(tell))
    runner = Runner(ledger, clock, ControlSettings(), workers, address="bench:1")
    try:
        runner.step()
        yield ledger, runner
    finally:
        pools.close(10)
        ledger.close()


def _give(
    ledger: Ledger, runner: Runner, jobs: int, due: datetime, *, apart: timedelta | None = None
) -> None:
    """Jobs as a large project has them, all owned by one runner; `apart` makes all periodic."""
    leader = Leader(ledger.leases, "bench", SystemClock(), ControlSettings())
    assert leader.step()
    term = leader.term
    assert term is not None
    daily = Spec(Every(timedelta(days=1))).to_text()
    with ledger.leases.held(term):
        for number in range(jobs):
            follows = apart is None and number % 10 == 0
            spec = Spec(OnChange(), (f"source{number % 1000}",)).to_text() if follows else daily
            duty = Duty(f"v{number}", f"v{number}", JobKind.REFRESH, f"t{number % 1000}", spec)
            next_at = due + number * (apart or timedelta())
            ledger.jobs.register(duty, term=term, next_at=next_at, now=due)
        for job in ledger.jobs.list():
            ledger.jobs.take(job.id, runner.registration.id)
    runner.scheduler.mark_dirty()


# --- many runners -------------------------------------------------------------------------------


def placement(runners: int = 1000, jobs: int = 100_000, leaving: int = 100) -> list[Figure]:
    """How many jobs move when one runner leaves, in shares of a runner; several are tried."""
    members = [f"host{n}:7077" for n in range(runners)]
    keys = [f"table{n}" for n in range(jobs)]
    began = time.perf_counter()
    ring = Ring(members)
    before = [ring.owner(key) for key in keys]
    took = time.perf_counter() - began
    moved, wrongly = [], 0
    for gone in random.Random(_SEED).sample(members, leaving):
        smaller = Ring([member for member in members if member != gone])
        after = [smaller.owner(key) for key in keys]
        moves = [old for old, new in zip(before, after, strict=True) if old != new]
        wrongly += sum(old != gone for old in moves)
        moved.append(len(moves) * runners / jobs)
    name = f"{runners:,} runners, {jobs:,} jobs"
    return [
        Figure(GROUP, f"{name}: placed", took, "s"),
        Figure(GROUP, f"{name}: moved when one leaves, median", statistics.median(moved), "/n"),
        Figure(GROUP, f"{name}: likewise, most of {leaving} tries", max(moved), "/n", 1.3),
        Figure(GROUP, f"{name}: moved though their runner stayed", wrongly, "", 0),
    ]


def failover(folder: Path) -> list[Figure]:
    """The coordinator dies without a word: how long until another leads."""
    folder.mkdir(parents=True)
    clock, settings = SkippingClock(), ControlSettings()
    took = []
    with Ledger.open(f"sqlite:///{folder}/ledger.db", clock) as ledger:
        leaders = [Leader(ledger.leases, f"l{n}", clock, settings) for n in range(11)]
        while len(leaders) > 1:
            _lead(leaders, clock, settings)
            (first,) = [leader for leader in leaders if leader.term is not None]
            leaders.remove(first)
            died = clock.now()
            _lead(leaders, clock, settings)
            took.append((clock.now() - died).total_seconds())
    target = settings.lease_seconds + 5
    return [Figure(GROUP, "failover of the coordinator, longest of 10", max(took), "s", target)]


def _lead(leaders: list[Leader], clock: SkippingClock, settings: ControlSettings) -> None:
    """Until somebody leads, everybody looks once per tick."""
    while True not in {leader.step() for leader in leaders}:
        clock.sleep(settings.tick_seconds)


# --- many sources -------------------------------------------------------------------------------


def watching(folder: Path, sources: int = 1000, cadence: float = 1.0) -> list[Figure]:
    """Real commits on some of many tables: how soon they are noticed, and at what cost."""
    for number in range(sources):
        log = folder / f"t{number}" / "_delta_log"
        log.mkdir(parents=True)
        (log / commit_name(0)).write_text("{}\n")
    seen: dict[str, float] = {}
    watch = SourceWatch(SystemClock())
    watch.follow({f"t{number}": str(folder / f"t{number}") for number in range(sources)})
    watch.look()
    closing = threading.Event()
    cost: list[float] = []

    def look() -> None:
        began = time.thread_time()
        since = time.perf_counter()
        while not closing.wait(cadence):
            seen.update((noticed.source, time.perf_counter()) for noticed in watch.look())
        cost.append((time.thread_time() - began) / (time.perf_counter() - since))

    thread = threading.Thread(target=look)
    thread.start()
    committed = _commit_on_some(folder, sources)
    while committed.keys() - seen.keys():
        time.sleep(0.05)
    closing.set()
    thread.join()
    longest = max(seen[source] - committed[source] for source in committed)
    return [
        Figure(GROUP, f"a commit on one of {sources:,} sources noticed", longest, "s", 2),
        Figure(GROUP, f"watching {sources:,} sources", 100 * cost[0], "% of a core", 5),
    ]


def _commit_on_some(folder: Path, sources: int, commits: int = 20) -> dict[str, float]:
    chance = random.Random(_SEED)
    committed = {}
    for number in chance.sample(range(sources), commits):
        time.sleep(chance.uniform(0, 1))
        (folder / f"t{number}" / "_delta_log" / commit_name(1)).write_text("{}\n")
        committed[f"t{number}"] = time.perf_counter()
    return committed


def control_plane(folder: Path, *, quick: bool = False) -> list[Figure]:
    """All figures of this file."""
    fewer = 10 if quick else 1
    return [
        *idle_jobs(folder / "idle", 100_000 // fewer),
        *due_jobs(folder / "due", 10_000 // fewer),
        *placement(leaving=100 // fewer),
        *failover(folder / "failover"),
        *watching(folder / "watching"),
    ]


if __name__ == "__main__":
    print(*_idle(Path(sys.argv[1]), int(sys.argv[2])))
