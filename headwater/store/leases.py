"""Who may act for all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from headwater.store import queries
from headwater.store.dialects import Database
from headwater.store.encoding import moment, stamp
from headwater.vocabulary.errors import LeaseLost

_SQL = queries.load("leases")

COORDINATOR = "coordinator"
"""The lease whose term every control write checks."""


@dataclass(frozen=True, slots=True)
class Term:
    """The right to write for all, as one holder got it; a later grant has a higher number."""

    number: int
    holder: str

    @property
    def parameters(self) -> dict[str, object]:
        """What the condition of a control write compares."""
        return {"term": self.number, "holder": self.holder}


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease as it was read, granted or renewed; `holder` is None once it was let go."""

    name: str
    term: int
    beat: int
    holder: str | None
    granted_at: datetime
    renewed_at: datetime


class Leases:
    """Table `hw_lease`: one holder per name, a term that grows with every grant.

    The row holds no expiry, because clocks differ: `beat` grows with every renewal, and a contender
    that sees it unchanged for the limit, on its own clock, may take the lease over. What keeps a
    holder that does not know yet from doing harm is the term, which every control write compares
    in its own statement.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, name: str = COORDINATOR) -> Lease | None:
        """The lease as it is, or None if it was never held."""
        rows = self._database.rows(_SQL["get_lease"], {"name": name})
        return _lease(rows[0]) if rows else None

    def acquire(
        self, holder: str, seen: Lease | None, now: datetime, name: str = COORDINATOR
    ) -> Lease | None:
        """Take a lease over exactly as it was seen; None if somebody was faster."""
        parameters: dict[str, object] = {"name": name, "holder": holder, "now": stamp(now)}
        if seen is None:
            won = self._database.change(_SQL["grant_first_lease"], parameters) == 1
            return Lease(name, 1, 1, holder, now, now) if won else None
        parameters |= {"term": seen.term, "beat": seen.beat}
        if self._database.change(_SQL["take_lease"], parameters) != 1:
            return None
        return Lease(name, seen.term + 1, seen.beat + 1, holder, now, now)

    def renew(self, lease: Lease, now: datetime) -> Lease | None:
        """Show that the holder lives; None once the lease is somebody else's: then stop."""
        if self._database.change(_SQL["renew_lease"], _named(lease) | {"now": stamp(now)}) != 1:
            return None
        return replace(lease, beat=lease.beat + 1, renewed_at=now)

    def release(self, lease: Lease) -> None:
        """Let go; harmless when repeated, or when it was taken over meanwhile."""
        self._database.change(_SQL["release_lease"], _named(lease))

    @contextmanager
    def held(self, term: Term, name: str = COORDINATOR) -> Iterator[None]:
        """One transaction of control writes, during which the lease cannot change hands.

        Raises `LeaseLost`, with nothing written, if the term is over.
        """
        with self._database.transaction():
            parameters = {"name": name, **term.parameters}
            if self._database.change(_SQL["hold_lease"], parameters) != 1:
                raise LeaseLost(f"the term {term.number} of {term.holder} is over")
            yield


def _named(lease: Lease) -> dict[str, object]:
    return {"name": lease.name, "term": lease.term, "holder": lease.holder}


def _lease(row: tuple[Any, ...]) -> Lease:
    name, term, beat, holder, granted_at, renewed_at = row
    return Lease(name, term, beat, holder, moment(granted_at), moment(renewed_at))
