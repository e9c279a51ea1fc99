"""A whole serving process without Spark: its work is a line in a file."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headwater.control.alerts import Alerts
from headwater.control.coordinator import Coordinator
from headwater.control.leader import Leader
from headwater.control.reaper import HistoryLimits, Reaper
from headwater.control.results import SUCCEEDED, RunResult
from headwater.runner.backpressure import Backpressure
from headwater.runner.loop import Loop
from headwater.runner.pools import Pools, PoolSettings
from headwater.runner.registration import fresh_id
from headwater.runner.run import Run
from headwater.runner.runner import Runner
from headwater.runner.workers import PooledWorkers
from headwater.store.ledger import Ledger
from headwater.vocabulary.clock import SystemClock
from headwater.vocabulary.settings import ControlSettings


class Journal:
    """Work that takes a moment and leaves a line at its beginning and at its end."""

    def __init__(self, path: Path, seconds: float = 0.2) -> None:
        self._file = path.open("a", encoding="utf-8", buffering=1)
        self._seconds = seconds
        self._turn = threading.Lock()

    def run(self, run: Run) -> RunResult:
        self._write("begin", run)
        time.sleep(self._seconds)
        self._write("end", run)
        return SUCCEEDED

    def _write(self, what: str, run: Run) -> None:
        line = {"what": what, "at": time.time(), "job": run.job.name, "runner": run.runner}
        with self._turn:
            self._file.write(json.dumps(line) + "\n")


def serve_simply(url: str, address: str, journal: str, settings: Mapping[str, Any]) -> None:
    """Serve until SIGTERM."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    clock, chosen = SystemClock(), ControlSettings(**settings)
    with Ledger.open(url, clock) as ledger:
        pools = Pools(clock, PoolSettings(workers=8), Backpressure(clock, threshold=0))
        workers = PooledWorkers(pools, Journal(Path(journal)))
        runner = Runner(ledger, clock, chosen, workers, address=address)
        coordinator = Coordinator(
            ledger,
            Leader(ledger.leases, fresh_id(), clock, chosen),
            lambda: runner.registration.known_id,
            clock,
            chosen,
            alerts=Alerts(ledger),
            reaper=Reaper(ledger, HistoryLimits()),
        )
        loops = (Loop("runner", runner.step, clock), Loop("coordinator", coordinator.step, clock))
        for loop in loops:
            loop.start()
        stop.wait()
        for loop in loops:
            loop.stop(10)
        coordinator.close()
        runner.close(10)
