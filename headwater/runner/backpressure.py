"""Holds back new work while the machine is busy."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

import psutil

from headwater.vocabulary.clock import Clock
from headwater.vocabulary.settings import RunnerSettings

_SHORTEST_SAMPLE = timedelta(milliseconds=100)


@dataclass(frozen=True)
class Load:
    """How much of the machine is in use, from 0 to 1."""

    cpu: float
    memory: float

    @property
    def highest(self) -> float:
        return max(self.cpu, self.memory)


class MachineLoad:
    """Reads the load; the CPU's is the average since the reading before.

    psutil's own average is kept per thread, so that a new thread would always read zero.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._turn = threading.Lock()
        self._at = clock.now()
        self._times = _busy_and_all()
        self._cpu = 0.0

    def __call__(self) -> Load:
        memory = psutil.virtual_memory().percent / 100
        with self._turn:
            self._sample(self._clock.now())
            return Load(self._cpu, memory)

    def _sample(self, now: datetime) -> None:
        if abs(now - self._at) < _SHORTEST_SAMPLE:
            return
        times = _busy_and_all()
        busy, everything = (
            after - before for before, after in zip(self._times, times, strict=True)
        )
        if everything > 0:
            self._cpu = min(1.0, max(0.0, busy / everything))
        self._at, self._times = now, times


class Backpressure:
    """Delays starts in small steps while CPU or memory is at its threshold; 0 switches it off.

    A machine that is always busy must still get its views fresh, so after `longest_seconds` a start
    goes ahead whatever the load.
    """

    def __init__(
        self,
        clock: Clock,
        load: Callable[[], Load] | None = None,
        *,
        threshold: float = 0.8,
        step_seconds: float = 0.1,
        longest_seconds: float = 60.0,
    ) -> None:
        self._clock = clock
        self._load = load or MachineLoad(clock)
        self._threshold = threshold
        self._step = step_seconds
        self._longest = timedelta(seconds=longest_seconds)

    @classmethod
    def of(cls, runner: RunnerSettings, clock: Clock) -> Self:
        """As headwater.toml says."""
        return cls(
            clock,
            threshold=runner.busy_threshold,
            step_seconds=runner.busy_step_seconds,
            longest_seconds=runner.busy_longest_seconds,
        )

    @property
    def is_busy(self) -> bool:
        return self._threshold > 0 and self._load().highest >= self._threshold

    def admit(self, given_up: Callable[[], bool]) -> None:
        """Return when a start may go ahead, or when nobody wants it any more."""
        since = self._clock.now()
        while not given_up() and self.is_busy:
            if self._clock.now() - since >= self._longest:
                return
            self._clock.sleep(self._step)


def _busy_and_all() -> tuple[float, float]:
    times = psutil.cpu_times()
    waiting = times.idle + getattr(times, "iowait", 0.0)
    everything = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    return everything - waiting, everything
