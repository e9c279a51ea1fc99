"""Workers whose runs take as long as the given clock says."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count

from headwater.control.results import SKIPPED, RunEnd, RunResult
from headwater.runner.run import Done, Run
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.errors import QueueFull, RunnerClosing

Ended = Callable[[], RunResult]
Plan = Callable[[Run], tuple[float, RunResult | Ended]]
"""How many seconds a run takes, and what it comes to, known at once or only at its end."""


class PlannedWorkers:
    """The real loop's other side without threads: `step` begins and ends what the clock says."""

    def __init__(
        self, clock: Clock, plan: Plan, *, slots: int = 4, most_queued: int = 1000
    ) -> None:
        self._clock = clock
        self._plan = plan
        self._slots = slots
        self._most_queued = most_queued
        self._queue: deque[tuple[Run, Done]] = deque()
        self._running: list[tuple[datetime, int, Run, Done, RunResult | Ended]] = []
        self._numbers = count()
        self._is_closed = False

    @property
    def slots(self) -> int:
        return self._slots

    @property
    def queued(self) -> int:
        return len(self._queue)

    @property
    def running(self) -> tuple[Run, ...]:
        return tuple(run for _, _, run, _, _ in self._running)

    @property
    def next_at(self) -> datetime | None:
        """When the next run ends; at once, if one could begin."""
        if self._queue and len(self._running) < self._slots:
            return self._clock.now()
        return self._running[0][0] if self._running else None

    def submit(self, run: Run, done: Done) -> None:
        if self._is_closed:
            raise RunnerClosing(f"`{run.name}` was not taken")
        if len(self._queue) >= self._most_queued:
            raise QueueFull(f"`{run.name}` was not taken")
        self._queue.append((run, done))

    def withdraw(self, run: Run) -> bool:
        kept = deque(pair for pair in self._queue if pair[0] is not run)
        found = len(kept) < len(self._queue)
        self._queue = kept
        return found

    def step(self) -> None:
        """End what is over, then begin what fits; a canceled run ends at once."""
        self._end()
        while self._queue and len(self._running) < self._slots:
            run, done = self._queue.popleft()
            if run.cancellation.is_set or not run.begin():
                done(run, SKIPPED)
                continue
            seconds, result = self._plan(run)
            until = self._clock.now() + timedelta(seconds=seconds)
            heapq.heappush(self._running, (until, next(self._numbers), run, done, result))
        self._end()

    def close(self, seconds: float) -> bool:
        """Drop what is queued; what runs ends with the clock, if that is soon enough."""
        self._is_closed = True
        while self._queue:
            run, done = self._queue.popleft()
            done(run, SKIPPED)
        until = self._clock.now() + timedelta(seconds=seconds)
        while self._running and self._running[0][0] <= until:
            wait = self._running[0][0] - self._clock.now()
            self._clock.sleep(max(0.0, wait.total_seconds()))
            self._end()
        return not self._running

    def _end(self) -> None:
        now, kept = self._clock.now(), []
        for until, number, run, done, result in sorted(self._running, key=lambda each: each[:2]):
            if run.cancellation.is_set:
                done(run, RunResult(RunEnd.CANCELED))
            elif until <= now:
                done(run, result() if callable(result) else result)
            else:
                kept.append((until, number, run, done, result))
        self._running = kept
