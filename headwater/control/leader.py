"""One coordinator, by a lease with a term.

Clocks of different machines are never compared. A contender takes the lease over when it has seen
it unchanged for the limit on its own clock; the holder counts from before it asked for its last
renewal, so by then it has stopped. Should a clock run wild all the same, two may believe they lead,
and the term in every write decides.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog

from headwater.store.leases import Lease, Leases, Term
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.errors import LedgerUnreachable
from headwater.vocabulary.settings import ControlSettings

log = structlog.get_logger(__name__)


class Leader:
    """Contends for the lease, keeps it, and knows when it no longer may act."""

    def __init__(
        self, leases: Leases, holder: str, clock: Clock, settings: ControlSettings
    ) -> None:
        self.holder = holder
        self._leases = leases
        self._clock = clock
        self._limit = timedelta(seconds=settings.lease_seconds)
        self._renew_after = timedelta(seconds=settings.renew_seconds)
        self._lease: Lease | None = None
        self._asked_at: datetime | None = None
        self._seen: tuple[Lease | None, datetime] | None = None
        self._since: datetime | None = None

    @property
    def term(self) -> Term | None:
        """The right to write, while it lasts by this holder's own clock."""
        lease, asked_at = self._lease, self._asked_at
        if lease is None or asked_at is None or self._clock.now() - asked_at >= self._limit:
            return None
        return Term(lease.term, self.holder)

    @property
    def leading_since(self) -> datetime | None:
        """When the term began; None while somebody else leads."""
        return self._since if self.term is not None else None

    def step(self) -> bool:
        """Renew or contend, if it is time to; tell whether this holder leads now."""
        now = self._clock.now()
        if self._lease is not None:
            self._renew(self._lease, now)
        else:
            self._contend(now)
        return self.term is not None

    def step_down(self) -> None:
        """Let go, so that another need not wait for the limit; harmless when not leading."""
        lease, self._lease = self._lease, None
        if lease is not None:
            self._leases.release(lease)
            self._lost("stepped_down", lease)

    def _renew(self, lease: Lease, now: datetime) -> None:
        expired = self.term is None
        if not expired and self._asked_at is not None and now - self._asked_at < self._renew_after:
            return
        try:
            renewed = self._leases.renew(lease, now)
        except LedgerUnreachable:
            if expired:
                self._lost("lease_expired", lease)
            raise
        if renewed is None:
            self._lost("lease_taken", lease)
            return
        self._lease, self._asked_at = renewed, now

    def _contend(self, now: datetime) -> None:
        seen = self._leases.get()
        before = self._seen
        if before is None or not _same(before[0], seen):
            self._seen = before = (seen, now)
        if _is_other(seen, self.holder) and now - before[1] < self._limit:
            return
        lease = self._leases.acquire(self.holder, seen, now)
        self._seen = None
        if lease is not None:
            self._lease, self._asked_at, self._since = lease, now, now
            log.info("leading", term=lease.term, holder=self.holder)

    def _lost(self, why: str, lease: Lease) -> None:
        self._lease = self._asked_at = self._since = self._seen = None
        log.info(why, term=lease.term, holder=self.holder)


def _is_other(seen: Lease | None, holder: str) -> bool:
    """Whether somebody else leads; a grant of our own whose answer got lost is nobody else's."""
    return seen is not None and seen.holder not in {None, holder}


def _same(before: Lease | None, after: Lease | None) -> bool:
    if before is None or after is None:
        return before is after
    return (before.term, before.beat) == (after.term, after.beat)
