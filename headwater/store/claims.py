"""Who may refresh a view now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headwater.store import queries
from headwater.store.dialects import Database
from headwater.store.encoding import moment, stamp
from headwater.store.owner import Owner, is_dead
from headwater.vocabulary.errors import RefreshRunning

_SQL = queries.load("claims")
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to refresh one view, as granted or as last renewed.

    `fence` grows with every grant of the view's claim, so whoever compares two of them knows which
    is the later.
    """

    view: str
    attempt: str
    owner: Owner
    fence: int
    claimed_at: datetime
    renewed_at: datetime
    limit_seconds: float
    is_finishing: bool = False

    @property
    def expires_at(self) -> datetime:
        return self.renewed_at + timedelta(seconds=self.limit_seconds)

    def is_forfeit(self, now: datetime) -> bool:
        """Tell whether another refresher may take the claim: too long silent, or surely dead."""
        return now >= self.expires_at or is_dead(self.owner)


class Claims:
    """Table `hw_claim`: at most one refresher per view.

    One row per view that was ever refreshed; a row without attempt is free. The row names the
    holder (attempt, host, boot, process), when it claimed and last renewed, after how many silent
    seconds it loses the claim, and which grant has come to its commit. Its fencing number grows
    with every grant and outlives the release. A claim keeps refreshers from wasting work on each
    other; what keeps their commits apart is the sequence in the view's own table, so a claim
    wrongly taken over harms nothing.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(
        self, view: str, attempt: str, owner: Owner, now: datetime, limit_seconds: float
    ) -> Claim:
        """Get the claim, or raise `RefreshRunning` naming who has it.

        Takes it over at once from a dead process of this host, and from anybody after the limit;
        the attempt that lost it becomes orphaned in the same transaction. Asking again for an
        attempt that already has it (its first answer was lost) returns what was granted.
        """
        for _ in range(_ROUNDS):
            fence, held = self._look(view)
            if held is not None and (held.attempt, held.owner) == (attempt, owner):
                return held
            if held is not None and not held.is_forfeit(now):
                break
            wanted = Claim(view, attempt, owner, fence + 1, now, now, limit_seconds)
            if self._grant(wanted, held):
                return wanted
        raise _refusal(view, held, now)

    def renew(self, claim: Claim, now: datetime) -> bool:
        """Keep the claim alive; false once it is somebody else's: then stop."""
        return self._database.change(_SQL["renew_claim"], _named(claim, now)) == 1

    def finish(self, claim: Claim) -> bool:
        """Show that everything is computed and the commit begins; false if it is not ours."""
        return self._database.change(_SQL["finish_claim"], _named(claim, claim.renewed_at)) == 1

    def release(self, claim: Claim) -> None:
        """Give the claim back; harmless when repeated, or when it was taken over meanwhile."""
        self._database.change(_SQL["release_claim"], _named(claim, claim.renewed_at))

    def get(self, view: str) -> Claim | None:
        """The claim on a view, expired or not; None if nobody holds it."""
        return self._look(view)[1]

    def list(self) -> tuple[Claim, ...]:
        """Every held claim, by view."""
        rows = self._database.rows(_SQL["list_held_claims"], {})
        return tuple(_claim(row) for row in rows)

    def sweep(self, now: datetime) -> tuple[Claim, ...]:
        """Free what dead or silent owners hold and orphan their attempts; returns the freed."""
        forfeit = (claim for claim in self.list() if claim.is_forfeit(now))
        return tuple(claim for claim in forfeit if self._free(claim, now))

    def _look(self, view: str) -> tuple[int, Claim | None]:
        """The fencing number last granted (0: never) and the claim, if it is held."""
        rows = self._database.rows(_SQL["get_claim"], {"view": view})
        if not rows:
            return 0, None
        row = rows[0]
        return row[1], None if row[2] is None else _claim(row)

    def _grant(self, wanted: Claim, held: Claim | None) -> bool:
        """Write the claim over what was seen; false if that has changed meanwhile."""
        parameters = _granted(wanted)
        if held is None:
            query = "claim_first_time" if wanted.fence == 1 else "claim_free"
            return self._database.change(_SQL[query], parameters) == 1
        with self._database.transaction():
            if self._database.change(_SQL["take_claim_over"], parameters | _seen(held)) != 1:
                return False
            self._orphan(held, wanted.claimed_at)
        return True

    def _free(self, held: Claim, now: datetime) -> bool:
        with self._database.transaction():
            parameters = {"view": held.view} | _seen(held)
            if self._database.change(_SQL["free_silent_claim"], parameters) != 1:
                return False
            self._orphan(held, now)
        return True

    def _orphan(self, lost: Claim, now: datetime) -> None:
        parameters = {"attempt": lost.attempt, "now": stamp(now)}
        self._database.change(_SQL["orphan_attempt"], parameters)


def _named(claim: Claim, now: datetime) -> dict[str, object]:
    return {
        "view": claim.view,
        "fence": claim.fence,
        "attempt": claim.attempt,
        "now": stamp(now),
    }


def _granted(claim: Claim) -> dict[str, object]:
    return {
        "view": claim.view,
        "attempt": claim.attempt,
        "host": claim.owner.host,
        "boot": claim.owner.boot,
        "pid": claim.owner.pid,
        "process_started": claim.owner.process_started,
        "limit_seconds": claim.limit_seconds,
        "now": stamp(claim.claimed_at),
        "seen_fence": claim.fence - 1,
    }


def _seen(held: Claim) -> dict[str, object]:
    return {
        "seen_fence": held.fence,
        "seen_attempt": held.attempt,
        "seen_renewed_at": stamp(held.renewed_at),
    }


def _claim(row: tuple[Any, ...]) -> Claim:
    view, fence, attempt, host, boot, pid, process_started, limit, claimed, renewed, last = row
    owner = Owner(host, boot, pid, process_started)
    return Claim(
        view, attempt, owner, fence, moment(claimed), moment(renewed), limit, last == fence
    )


def _refusal(view: str, held: Claim | None, now: datetime) -> RefreshRunning:
    if held is None:
        return RefreshRunning(f"{view} is wanted by many refreshers at once")
    age = max(0.0, (now - held.claimed_at).total_seconds())
    return RefreshRunning(
        f"{view} is being refreshed by attempt {held.attempt} ({held.owner}, for {age:.0f} s)",
        hint=f"wait for it, or stop it with `headwater cancel {held.attempt}`",
    )
