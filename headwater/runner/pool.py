"""The workers of one kind of work: bounded, resizable, with a time limit."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count

import structlog

from headwater.runner.backpressure import Backpressure
from headwater.runner.work import End, Outcome, Work, WorkKind
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.errors import QueueFull, RunnerClosing, TimeLimit

_MOST_ABANDONED = 16
"""Work over its limit that does not end when cancelled; with more of it no slot is freed."""

_LOOK_SECONDS = 0.05

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class PoolState:
    """What a pool is doing; `late` is work over its limit that has not ended yet."""

    size: int
    queued: int
    running: int
    late: int


@dataclass
class _Entry:
    work: Work
    number: int
    submitted: datetime
    started: datetime | None = None
    is_cancelled: bool = False
    told_late: threading.Event | None = None

    def __lt__(self, other: _Entry) -> bool:
        """More urgent first, then in the order of their coming."""
        return (-self.work.priority, self.number) < (-other.work.priority, other.number)

    def outcome(self, end: End, now: datetime) -> Outcome:
        started = self.started or now
        return Outcome(
            self.work.name,
            self.work.kind,
            end,
            waited_seconds=(started - self.submitted).total_seconds(),
            seconds=(now - started).total_seconds(),
        )


class Pool:
    """Takes work without ever blocking; threads are there only while there is work.

    A thread that has a slot takes one piece of work after the other. Work over its time limit loses
    its slot: the thread goes on without one, and ends when the work does.
    """

    def __init__(
        self,
        kind: WorkKind,
        size: int,
        *,
        clock: Clock,
        backpressure: Backpressure,
        limit: timedelta | None = None,
        most_queued: int = 1000,
    ) -> None:
        self._kind = kind
        self._size = max(1, size)
        self._clock = clock
        self._backpressure = backpressure
        self._limit = limit
        self._most_queued = most_queued
        self._turn = threading.Condition()
        self._numbers = count()
        self._queue: list[_Entry] = []
        self._running: dict[int, _Entry] = {}
        self._late: dict[int, _Entry] = {}
        self._ending = 0
        self._slots = 0
        self._is_closed = False

    # --- from outside -----------------------------------------------------------------------

    def submit(self, work: Work, *, internal: bool = False) -> None:
        """Queue work; only what follows from work already taken may exceed the queue's limit."""
        with self._turn:
            if self._is_closed:
                raise RunnerClosing(f"`{work.name}` was not taken: the runner is closing")
            if not internal and len(self._queue) >= self._most_queued:
                raise QueueFull(
                    f"`{work.name}` was not taken: {len(self._queue)} {self._kind} wait"
                )
            entry = _Entry(work, next(self._numbers), self._clock.now())
            heapq.heappush(self._queue, entry)
            self._grow()

    def withdraw(self, name: str) -> bool:
        """Take queued work back, so that it never starts; running work is left alone."""
        with self._turn:
            kept = [entry for entry in self._queue if entry.work.name != name]
            found = len(kept) < len(self._queue)
            if found:
                heapq.heapify(kept)
                self._queue = kept
        return found

    def cancel(self, name: str) -> bool:
        """Ask running work of this name to end."""
        with self._turn:
            found = [entry for entry in self._running.values() if entry.work.name == name]
        for entry in found:
            _guarded(entry.work, entry.work.cancel)
        return bool(found)

    def resize(self, size: int) -> None:
        """More slots are used at once; fewer as running work ends."""
        with self._turn:
            self._size = max(1, size)
            self._grow()

    def state(self) -> PoolState:
        with self._turn:
            return PoolState(self._size, len(self._queue), len(self._running), len(self._late))

    def expire(self) -> None:
        """Cancel what is over its time limit and give its slots to others."""
        now = self._clock.now()
        with self._turn:
            overdue = [entry for entry in self._running.values() if self._is_overdue(entry, now)]
            freed = overdue[: max(0, _MOST_ABANDONED - len(self._late))]
            for entry in freed:
                entry.told_late = threading.Event()
                self._late[entry.number] = self._running.pop(entry.number)
                self._slots -= 1
            self._grow()
        for entry in overdue:
            if not entry.is_cancelled:
                entry.is_cancelled = True
                _guarded(entry.work, entry.work.cancel)
        for entry in freed:
            error = TimeLimit(f"`{entry.work.name}` took longer than {self._limit}")
            _report(entry, replace(entry.outcome(End.TIMED_OUT, now), error=error))
            if entry.told_late is not None:
                entry.told_late.set()

    def stop(self) -> None:
        """Refuse new work and drop what is queued; what runs goes on."""
        with self._turn:
            self._is_closed = True
            dropped, self._queue = sorted(self._queue), []
        for entry in dropped:
            _report(entry, entry.outcome(End.DROPPED, self._clock.now()))

    def wait(self, until: datetime) -> bool:
        """Wait for what runs; what still does then is cancelled. Tell whether all had ended."""
        with self._turn:
            while (self._running or self._ending) and self._clock.now() < until:
                self._turn.wait(_LOOK_SECONDS)
            left, ending = list(self._running.values()), self._ending
        for entry in left:
            _guarded(entry.work, entry.work.cancel)
        return not left and not ending

    # --- workers ----------------------------------------------------------------------------

    def _grow(self) -> None:
        """A thread for each free slot that work waits for; the caller holds the lock."""
        for _ in range(min(self._size - self._slots, len(self._queue))):
            self._slots += 1
            threading.Thread(target=self._work, name=f"headwater-{self._kind}", daemon=True).start()

    def _work(self) -> None:
        while (entry := self._taken()) is not None:
            if not self._performed(entry):
                return

    def _taken(self) -> _Entry | None:
        """The next work once the machine has room for it; None gives the slot back."""
        if not self._is_unneeded():
            self._backpressure.admit(self._is_unneeded)
        with self._turn:
            if self._is_unneeded():
                self._slots -= 1
                self._turn.notify_all()
                return None
            entry = heapq.heappop(self._queue)
            entry.started = self._clock.now()
            self._running[entry.number] = entry
            return entry

    def _is_unneeded(self) -> bool:
        return self._is_closed or not self._queue or self._slots > self._size

    def _performed(self, entry: _Entry) -> bool:
        """Run the work; False if it lost its slot meanwhile."""
        value: object = None
        error: BaseException | None = None
        try:
            value = entry.work.run()
        except BaseException as raised:  # noqa: BLE001  (whatever it is, the worker goes on)
            error = raised
        with self._turn:
            self._running.pop(entry.number, None)
            self._late.pop(entry.number, None)
            self._ending += 1
        end = End.FINISHED if error is None else End.FAILED
        if entry.told_late is not None:
            entry.told_late.wait()  # that it is late is told before how it ended
            end = End.LATE
        _report(entry, replace(entry.outcome(end, self._clock.now()), value=value, error=error))
        with self._turn:
            self._ending -= 1
            self._turn.notify_all()
        return entry.told_late is None

    def _is_overdue(self, entry: _Entry, now: datetime) -> bool:
        started = entry.started
        return self._limit is not None and started is not None and now - started >= self._limit


def _report(entry: _Entry, outcome: Outcome) -> None:
    _guarded(entry.work, lambda: entry.work.done(outcome))


def _guarded(work: Work, call: Callable[[], None]) -> None:
    """What the work's owner gets wrong must not end a worker."""
    try:
        call()
    except Exception:
        log.exception("callback_failed", job=work.name, kind=work.kind.value)
