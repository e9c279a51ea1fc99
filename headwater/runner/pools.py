"""All workers of a runner: one bounded pool for each kind of work."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from headwater.runner.backpressure import Backpressure
from headwater.runner.pool import Pool, PoolState
from headwater.runner.work import Work, WorkKind
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.settings import RunnerSettings

_LEAST_WORKERS = 2


@dataclass(frozen=True)
class PoolSettings:
    """How many workers there are, how they are shared out, and how long work may take."""

    workers: int | None = None
    refresh_share: float = 0.6
    refresh_limit: timedelta | None = timedelta(minutes=5)
    purge_limit: timedelta | None = timedelta(minutes=10)
    build_limit: timedelta | None = None
    most_queued: int = 1000

    @classmethod
    def of(cls, runner: RunnerSettings) -> Self:
        """As headwater.toml says, where 0 stands for none."""
        return cls(
            runner.workers or None,
            runner.refresh_share,
            _limit(runner.refresh_limit_seconds),
            _limit(runner.purge_limit_seconds),
            _limit(runner.build_limit_seconds),
            runner.most_queued,
        )

    def limit(self, kind: WorkKind) -> timedelta | None:
        return {
            WorkKind.REFRESH: self.refresh_limit,
            WorkKind.PURGE: self.purge_limit,
            WorkKind.BUILD: self.build_limit,
        }[kind]

    def sizes(self) -> Mapping[WorkKind, int]:
        """Refreshes get their share; purges and builds halve the rest; nobody goes without."""
        total = self.workers or max(_LEAST_WORKERS, os.cpu_count() or 1)
        refresh = max(1, round(total * self.refresh_share))
        rest = max(0, total - refresh)
        purge = max(1, rest // 2)
        return {
            WorkKind.REFRESH: refresh,
            WorkKind.PURGE: purge,
            WorkKind.BUILD: max(1, rest - purge),
        }


def _limit(seconds: float) -> timedelta | None:
    return timedelta(seconds=seconds) if seconds else None


class Pools:
    """Where a runner's loop leaves its work; nothing here blocks but `close`."""

    def __init__(
        self,
        clock: Clock,
        settings: PoolSettings | None = None,
        backpressure: Backpressure | None = None,
    ) -> None:
        chosen = settings or PoolSettings()
        gate = backpressure or Backpressure(clock)
        self._clock = clock
        self._closing = threading.Event()
        self._pools = {
            kind: Pool(
                kind,
                size,
                clock=clock,
                backpressure=gate,
                limit=chosen.limit(kind),
                most_queued=chosen.most_queued,
            )
            for kind, size in chosen.sizes().items()
        }

    def submit(self, work: Work, *, internal: bool = False) -> None:
        """Queue work of any kind; raises QueueFull or RunnerClosing."""
        self._pools[work.kind].submit(work, internal=internal)

    def withdraw(self, kind: WorkKind, name: str) -> bool:
        """Take back work that has not started."""
        return self._pools[kind].withdraw(name)

    def cancel(self, kind: WorkKind, name: str) -> bool:
        """Ask running work to end."""
        return self._pools[kind].cancel(name)

    def resize(self, sizes: Mapping[WorkKind, int]) -> None:
        for kind, size in sizes.items():
            self._pools[kind].resize(size)

    def state(self) -> Mapping[WorkKind, PoolState]:
        return {kind: pool.state() for kind, pool in self._pools.items()}

    def expire(self) -> None:
        """Enforce the time limits as of now; `watch` does it by itself."""
        for pool in self._pools.values():
            pool.expire()

    def watch(self, every_seconds: float = 0.5) -> None:
        """Enforce the time limits from a thread of its own until the pools are closed."""

        def look() -> None:
            while not self._closing.wait(every_seconds):
                self.expire()

        threading.Thread(target=look, name="headwater-limits", daemon=True).start()

    def close(self, seconds: float = 30.0) -> bool:
        """Drop what is queued and wait for what runs; tell whether all of it ended in time."""
        self._closing.set()
        until = self._clock.now() + timedelta(seconds=seconds)
        for pool in self._pools.values():
            pool.stop()
        ended = [pool.wait(until) for pool in self._pools.values()]
        return all(ended)
