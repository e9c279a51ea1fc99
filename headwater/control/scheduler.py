"""A runner's own jobs in memory: an index by number and a heap by next time.

The ledger says which jobs there are and when each is due; this keeps that in an order in which the
next one is found at once. One thread uses it. Nothing here waits, and the time is always given.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from itertools import count

import structlog

from headwater.control.entry import Entry, Phase
from headwater.control.settings import pause_after
from headwater.store.job_record import JobRecord
from headwater.vocabulary.lifecycle.job import JobKind
from headwater.vocabulary.settings import ControlSettings

KINDS = (JobKind.REFRESH, JobKind.PURGE, JobKind.SYS)

_LEAST_HEAP = 1_000
"""Below this a heap full of stale places is not worth tidying."""

Load = Callable[[JobKind], tuple[JobRecord, ...]]

log = structlog.get_logger(__name__)


class Scheduler:
    """Knows what is due. Commits, commands and times of the clock make a job due; runs end here."""

    def __init__(self, settings: ControlSettings) -> None:
        self._settings = settings
        self._entries: dict[int, Entry] = {}
        self._heap: list[tuple[datetime, int, int]] = []
        self._tickets = count(1)
        self._followers: dict[str, set[int]] = {}
        self._reconcile_at: datetime | None = None
        self._is_dirty = True

    # --- looking ----------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, job: int) -> bool:
        return job in self._entries

    def get(self, job: int) -> Entry | None:
        return self._entries.get(job)

    def jobs(self) -> Iterator[JobRecord]:
        return (entry.job for entry in tuple(self._entries.values()))

    def lags(self, now: datetime) -> dict[str, float]:
        """Seconds that each view is behind, at most; from any thread."""
        entries = tuple(self._entries.values())
        refreshes = (entry for entry in entries if entry.job.kind is JobKind.REFRESH)
        return {
            view: entry.lag_seconds(now)
            for entry in refreshes
            for view in entry.spec.views or (entry.job.subject,)
        }

    @property
    def sources(self) -> frozenset[str]:
        """The tables whose commits matter here."""
        return frozenset(self._followers)

    def next_wake(self, now: datetime) -> datetime:
        """When there is something to do next, as far as is known now."""
        if self._is_dirty or self._reconcile_at is None:
            return now if self._reconcile_at is None else self._reconcile_at
        self._discard_stale()
        due = self._heap[0][0] if self._heap else self._reconcile_at
        return min(due, self._reconcile_at)

    # --- reconciling ------------------------------------------------------------------------

    def mark_dirty(self) -> None:
        """Definitions or owners changed: the next look at the ledger must not wait."""
        self._is_dirty = True
        self._reconcile_at = None

    def reconcile(self, load: Load, now: Callable[[], datetime]) -> bool:
        """Take over what the ledger says, if it is time to; false if it was not.

        Every kind is loaded before anything changes, so half an answer changes nothing. An answer
        that fails after a change is asked for again soon, otherwise at its usual time.
        """
        began = now()
        if self._reconcile_at is not None and began < self._reconcile_at:
            return False
        try:
            loaded = [job for kind in KINDS for job in load(kind)]
        except BaseException:
            again = self._settings.reconcile_again_seconds
            wait = again if self._is_dirty else self._settings.reconcile_seconds
            self._reconcile_at = began + timedelta(seconds=wait)
            raise
        self._take_over(loaded, began)
        self._is_dirty = False
        done = now()
        self._reconcile_at = done + pause_after(self._settings.reconcile_seconds, done - began)
        return True

    def _take_over(self, loaded: Iterable[JobRecord], now: datetime) -> None:
        seen = set()
        for job in loaded:
            seen.add(job.id)
            entry = self._entries.get(job.id)
            if entry is None:
                self._add(job, now)
            else:
                self._update(entry, job, now)
        for job_id in self._entries.keys() - seen:
            self.remove(job_id)

    def _add(self, job: JobRecord, now: datetime) -> None:
        entry = self._entries[job.id] = Entry(job)
        self._follow(entry)
        first = entry.spec.follows_commits and not entry.holds_back
        self._place(entry, now if first else entry.next_at(now))

    def _update(self, entry: Entry, job: JobRecord, now: datetime) -> None:
        could_start, before, entry.job = entry.may_start, entry.job, job
        is_new = before.spec != job.spec
        if is_new:
            self._follow(entry)
        if entry.phase is Phase.IN_HAND or before.sequence > job.sequence:
            entry.again = entry.again or is_new
            return  # settings only: it is placed when its run is over
        follows = entry.spec.follows_commits and not entry.holds_back
        if follows and (is_new or (entry.may_start and not could_start)):
            self._place(entry, now)  # nobody noticed for it what was committed before
        elif before.next_at != job.next_at or (entry.may_start and not could_start):
            self._place(entry, entry.next_at(now))

    def remove(self, job: int) -> None:
        """Forget a job; whatever of it is in hand is skipped, or ends without a trace here."""
        entry = self._entries.pop(job, None)
        if entry is not None:
            entry.is_leaving = True
            self._unfollow(entry)

    def clear(self) -> None:
        """Forget everything, because the runner owns nothing any more."""
        for job in tuple(self._entries):
            self.remove(job)
        self._heap.clear()
        self.mark_dirty()

    # --- what makes a job due ---------------------------------------------------------------

    def notice(self, sources: Iterable[str], now: datetime) -> int:
        """Commits were seen on these tables; tells how many jobs follow them.

        None is lost: a job in hand runs once more, a job that waits after a failure runs when its
        wait is over, a paused one when it goes on.
        """
        found = {job for source in sources for job in self._followers.get(source, ())}
        for job in sorted(found):
            entry = self._entries[job]
            if entry.phase is Phase.IN_HAND:
                entry.again = True
            elif not entry.holds_back and (entry.due is None or entry.due > now):
                self._place(entry, now)
        return len(found)

    def stopped_by(self, code: str, sources: Iterable[str]) -> tuple[Entry, ...]:
        """The jobs that follow these tables and that an error of this code has stopped."""
        found = {job for source in sources for job in self._followers.get(source, ())}
        entries = (self._entries[job] for job in sorted(found))
        return tuple(entry for entry in entries if entry.is_stopped_by(code))

    def run_now(self, job: int, now: datetime, *, scan: bool = False) -> bool:
        """Make a job due at once; false if it is not here or may not start."""
        entry = self._entries.get(job)
        if entry is None or not entry.may_start:
            return False
        entry.scan = entry.scan or scan
        if entry.phase is Phase.IN_HAND:
            entry.again = True
        else:
            self._place(entry, now)
        return True

    def take_due(self, now: datetime, most: int) -> list[Entry]:
        """The jobs to start now, the longest due first; each is in hand from here on."""
        taken: list[Entry] = []
        while len(taken) < most:
            self._discard_stale()
            if not self._heap or self._heap[0][0] > now:
                break
            _, _, job = heapq.heappop(self._heap)
            entry = self._entries[job]
            entry.ticket = 0
            if entry.may_start:
                entry.phase = Phase.IN_HAND
                taken.append(entry)
        return taken

    def put_back(self, entry: Entry, due: datetime | None) -> None:
        """A job's run is over, or never began: place it anew.

        Its row was read when its end was written, perhaps with a definition that is new here.
        """
        if self._entries.get(entry.job.id) is not entry:
            return
        entry.phase = Phase.WAITING
        self._follow(entry)
        self._place(entry, due)

    # --- the heap ---------------------------------------------------------------------------

    def _place(self, entry: Entry, due: datetime | None) -> None:
        """Put a job where its time is; its former places become stale."""
        entry.due = due
        entry.ticket = 0
        if due is not None and entry.may_start:
            entry.ticket = next(self._tickets)
            heapq.heappush(self._heap, (due, entry.ticket, entry.job.id))
        if len(self._heap) > _LEAST_HEAP + 2 * len(self._entries):
            self._heap = [place for place in self._heap if self._is_current(place)]
            heapq.heapify(self._heap)

    def _is_current(self, place: tuple[datetime, int, int]) -> bool:
        entry = self._entries.get(place[2])
        return entry is not None and entry.ticket == place[1]

    def _discard_stale(self) -> None:
        while self._heap and not self._is_current(self._heap[0]):
            heapq.heappop(self._heap)

    def _follow(self, entry: Entry) -> None:
        """Be told of commits on the sources that its definition names now."""
        wanted = frozenset(entry.spec.sources if entry.spec.follows_commits else ())
        if wanted != entry.followed:
            self._unfollow(entry)
            entry.followed = wanted
            for source in wanted:
                self._followers.setdefault(source, set()).add(entry.job.id)

    def _unfollow(self, entry: Entry) -> None:
        for source in entry.followed:
            followers = self._followers[source]
            followers.discard(entry.job.id)
            if not followers:
                del self._followers[source]
        entry.followed = frozenset()
