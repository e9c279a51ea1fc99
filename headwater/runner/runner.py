"""One process's loop: registered, reporting, obeying commands, running its own jobs on time.

Every part looks at the clock it is given and returns. A ledger that is away ends a step early and
changes nothing: what runs goes on, nothing new starts, and ends of runs are kept until they can be
written.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

import structlog

from headwater.control.alerts import Alerts
from headwater.control.entry import Entry
from headwater.control.results import RunEnd, RunResult
from headwater.control.scheduler import Scheduler
from headwater.runner.closing import Closing
from headwater.runner.metrics import Metrics
from headwater.runner.orders import Orders
from headwater.runner.registration import Registration, Standing, fresh_id
from headwater.runner.run import Run, Workers
from headwater.runner.tending import Tending
from headwater.store.job_record import JobRecord
from headwater.store.ledger import Ledger
from headwater.store.marks import Mark
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.errors import (
    LedgerUnreachable,
    QueueFull,
    RunnerClosing,
    SourceUnreadable,
    StateConflict,
)
from headwater.vocabulary.lifecycle.command import CommandKind
from headwater.vocabulary.lifecycle.job import JobKind
from headwater.vocabulary.settings import ControlSettings

log = structlog.get_logger(__name__)


class Runner:
    """Owns the jobs that it was started for, and nothing else. One thread calls `step`."""

    def __init__(
        self,
        ledger: Ledger,
        clock: Clock,
        settings: ControlSettings,
        workers: Workers,
        *,
        address: str,
        wake: Callable[[], None] = lambda: None,
        alerts: Alerts | None = None,
        metrics: Metrics | None = None,
        new_id: Callable[[], str] = fresh_id,
    ) -> None:
        self.registration = Registration(ledger.runners, clock, settings, address, new_id)
        self.scheduler = Scheduler(settings)
        self.followed: frozenset[str] = frozenset()  # sources whose commits matter here
        self._ledger = ledger
        self._clock = clock
        self._settings = settings
        self._workers = workers
        self._wake = wake
        self._orders = Orders(ledger, clock, self)
        self._closing = Closing(ledger, clock, settings, metrics)
        self._tending = Tending(ledger, clock, settings, alerts or Alerts(ledger))
        self._in_hand: dict[int, tuple[Run, Entry]] = {}
        self._ended: deque[tuple[Run, RunResult]] = deque()
        self._noticing = threading.Lock()
        self._noticed: set[str] | None = None  # since the last step; None if nobody has looked
        self._looked_at: datetime | None = None
        self._marks: dict[str, int] = {}
        self._next_tick: datetime | None = None
        self._next_poll: datetime | None = None
        self._is_stopping = self._is_closed = False

    @property
    def in_hand(self) -> int:
        """Runs that are queued or running."""
        return len(self._in_hand)

    @property
    def has_ended(self) -> bool:
        """Whether runs have ended whose end is not written yet."""
        return bool(self._ended)

    # --- the loop ---------------------------------------------------------------------------

    def step(self) -> datetime:
        """Do all that is due; returns when to come again."""
        try:
            takes_part = self._step()
        except LedgerUnreachable as error:
            log.warning("ledger_away", error=error.what)
            takes_part = False
        now = self._clock.now()
        tick = now + timedelta(seconds=self._settings.tick_seconds)
        if not takes_part:
            return tick
        return max(now, min(self._next_tick or now, self.scheduler.next_wake(now)))

    def _step(self) -> bool:
        """All parts in order; false if this runner may not act now."""
        standing = self.registration.step(running=len(self._in_hand), slots=self._workers.slots)
        if standing is Standing.LOST:
            self._let_all_go()
            standing = self.registration.step(running=0, slots=self._workers.slots)
        if standing is Standing.WAITING or not self.registration.is_sure:
            return False
        self._collect()
        self._look()
        if self.scheduler.reconcile(self._load, self._clock.now):
            self.followed = self.scheduler.sources
        self._take_notice()
        self._start_due()
        self._tending.step(self.registration.id, self.scheduler.jobs, self._looked_at)
        return True

    def _look(self) -> None:
        """Marks every tick, commands when theirs moved or at the latest every poll."""
        now = self._clock.now()
        if self._next_tick is None or now >= self._next_tick:
            self._next_tick = now + timedelta(seconds=self._settings.tick_seconds)
            before, self._marks = self._marks, dict(self._ledger.marks.read())
            if before.get(Mark.JOBS) != self._marks.get(Mark.JOBS):
                self.scheduler.mark_dirty()
            if before.get(Mark.COMMANDS) != self._marks.get(Mark.COMMANDS):
                self._next_poll = None
        if self._next_poll is None or now >= self._next_poll:
            is_all = self._orders.step(self.registration.id)
            later = now + timedelta(seconds=self._settings.poll_seconds)
            self._next_poll = later if is_all else None

    def _load(self, kind: JobKind) -> tuple[JobRecord, ...]:
        return self._ledger.jobs.owned(self.registration.id, kind)

    # --- commits ----------------------------------------------------------------------------

    def noticed(self, sources: Iterable[str]) -> None:
        """Somebody looked at the sources and saw commits on these; from any thread."""
        with self._noticing:
            self._noticed = {*(self._noticed or ()), *sources}
        self._wake()

    def _take_notice(self) -> None:
        with self._noticing:
            noticed, self._noticed = self._noticed, None
        if noticed is None:
            return
        now = self._clock.now()
        self.scheduler.notice(noticed, now)
        self._looked_at = now
        try:
            self._repair(frozenset(noticed), now)
        except LedgerUnreachable:
            self.noticed(noticed)  # not lost: it is taken notice of once more
            raise

    def _repair(self, sources: frozenset[str], now: datetime) -> None:
        """A source that came back, or changed, may be what a job without a source waits for."""
        for entry in self.scheduler.stopped_by(SourceUnreadable("").code, sources):
            log.info("resumed_by_its_source", job=entry.job.name)
            self._ledger.jobs.resume(entry.job.id, now)
            self.scheduler.mark_dirty()

    # --- runs -------------------------------------------------------------------------------

    def _start_due(self) -> None:
        if self._is_stopping:
            return
        now = self._clock.now()
        for entry in self.scheduler.take_due(now, self._settings.most_started):
            entry.again = False
            run = self._run(entry)
            self._in_hand[entry.job.id] = (run, entry)
            try:
                self._workers.submit(run, self._done)
            except (QueueFull, RunnerClosing):
                self._in_hand.pop(entry.job.id)
                later = now + timedelta(seconds=self._settings.tick_seconds)
                self.scheduler.put_back(entry, later)

    def _run(self, entry: Entry) -> Run:
        job, runner = entry.job, self.registration.id

        def begin() -> bool:
            """In a worker's thread, which must not start what others may have taken over."""
            try:
                return self.registration.is_sure and self._ledger.jobs.begin(
                    job, runner, self._clock.now()
                )
            except LedgerUnreachable:
                return False

        return Run(job, runner, begin, entry.scan)

    def _done(self, run: Run, result: RunResult) -> None:
        self._ended.append((run, result))
        self._wake()

    def _collect(self) -> None:
        """Write down how runs ended; what cannot be written now stays for the next step."""
        while self._ended:
            run, result = self._ended[0]
            held = self._in_hand.get(run.job.id)
            if held is not None and held[0] is run:
                self._close_run(run, held[1], result)
            self._ended.popleft()

    def _close_run(self, run: Run, entry: Entry, result: RunResult) -> None:
        job = run.job.id
        if entry.is_leaving and result.end is RunEnd.CANCELED:
            result = RunResult(RunEnd.BUSY)  # stopped for a move or a wish, not by a cancel
        due = self._closing.close(run, entry, result)
        if run.scan and self._orders.is_open(job, CommandKind.SCAN):
            why = None if result.end is RunEnd.SUCCEEDED else f"it {result.end.value}"
            self._orders.ended(job, CommandKind.SCAN, why)
        if self._orders.is_open(job, CommandKind.STOP):
            self._ledger.jobs.release(job, run.runner)
            self._orders.ended(job, CommandKind.STOP)
            entry.is_leaving = True
        self._in_hand.pop(job, None)
        if entry.is_leaving:
            self.scheduler.remove(job)
        else:
            self.scheduler.put_back(entry, due)

    def _let_all_go(self) -> None:
        """Others own the jobs now: what runs is canceled, and nothing of it is written here."""
        for run, _ in self._in_hand.values():
            self._workers.withdraw(run)
            run.cancellation.set()
        self._in_hand.clear()
        self._orders.forget()
        self.scheduler.clear()
        self._marks = {}
        self._next_tick = self._next_poll = None

    # --- commands ---------------------------------------------------------------------------

    def start_job(self, job: int) -> bool:
        """Own a job; that it is owned already, because an answer got lost, is as good."""
        runner = self.registration.id
        if self._is_stopping:
            raise RunnerClosing(f"job {job} was not taken: this runner is closing")
        if not self._ledger.jobs.take(job, runner):
            found = self._ledger.jobs.get(job)
            if found is None or found.owner != runner:
                raise StateConflict(f"job {job} cannot be taken: {_why(found)}")
        self.scheduler.mark_dirty()
        return True

    def stop_job(self, job: int) -> bool:
        """Let go of a job; one that runs is let go of at its end, sooner if nobody wants it."""
        held = self._in_hand.get(job)
        if held is not None and not self._workers.withdraw(held[0]):
            run, entry = held
            entry.is_leaving = True
            found = self._ledger.jobs.get(job)
            if found is None or not found.is_wanted:
                run.cancellation.set()
            return False
        self._in_hand.pop(job, None)
        self._ledger.jobs.release(job, self.registration.id)
        self.scheduler.remove(job)
        return True

    def scan_job(self, job: int) -> bool:
        """Run once over everything; the command ends with that run."""
        self.scheduler.mark_dirty()
        self.scheduler.reconcile(self._load, self._clock.now)
        if not self.scheduler.run_now(job, self._clock.now(), scan=True):
            raise StateConflict(f"job {job} is not here, paused or stopped by an error")
        return False

    def unscan_job(self, job: int) -> bool:
        """Stop a run over everything; one that is not running is not begun."""
        entry, held = self.scheduler.get(job), self._in_hand.get(job)
        if entry is not None:
            entry.scan = False
        if held is not None and held[0].scan:
            held[0].cancellation.set()
        else:
            self._orders.ended(job, CommandKind.SCAN, "taken back before it began")
        return True

    # --- the end ----------------------------------------------------------------------------

    def stop_starting(self) -> None:
        """Start nothing more, but go on reporting while others wait for what runs."""
        self._is_stopping = True

    def close(self, seconds: float = 30.0) -> None:
        """Start nothing more, wait for what runs, write it down, and leave; twice is harmless."""
        if self._is_closed:
            return
        self._is_closed = self._is_stopping = True
        self._workers.close(seconds)
        try:
            if self.registration.is_sure:
                self._collect()
            self.registration.leave()
        except LedgerUnreachable as error:
            log.warning("left_without_a_word", error=error.what)


def _why(found: JobRecord | None) -> str:
    if found is None:
        return "it is gone"
    if not found.is_wanted:
        return "it is not to run"
    return f"{found.owner} owns it" if found.owner else "this runner is not registered"
