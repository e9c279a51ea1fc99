"""Which runners are alive, judged by one observer's clock only."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from headwater.store.runners import RunnerRecord


class Membership:
    """Remembers when each runner's number of reports was last seen to grow.

    An observer that has just begun to look calls nobody silent before it has looked for the whole
    limit; so clocks that differ between machines never make a living runner look dead. Time in
    which it could not look itself (it was stopped, the ledger was away) counts for nobody either.
    """

    def __init__(self, silent_seconds: float) -> None:
        self._limit = timedelta(seconds=silent_seconds)
        self._heard: dict[str, tuple[int, datetime]] = {}
        self._looked: datetime | None = None

    def observe(self, runners: Iterable[RunnerRecord], now: datetime) -> frozenset[str]:
        """Take in what is registered now; returns the runners silent for the limit."""
        present = {runner.id: runner.beat for runner in runners}
        missed = self._not_looked(now)
        self._heard = {
            id_: (beat, min(now, at + missed))
            for id_, (beat, at) in self._heard.items()
            if id_ in present
        }
        for id_, beat in present.items():
            known = self._heard.get(id_)
            if known is None or known[0] != beat:
                self._heard[id_] = (beat, now)
        return frozenset(id_ for id_, (_, at) in self._heard.items() if now - at >= self._limit)

    def _not_looked(self, now: datetime) -> timedelta:
        """How long the observer was blind, if that was long enough to matter."""
        since, self._looked = self._looked, now
        gap = timedelta() if since is None else now - since
        return gap if gap > self._limit / 3 else timedelta()

    def forget(self) -> None:
        """Begin anew, because what was seen before is too old to say anything."""
        self._heard.clear()
        self._looked = None
