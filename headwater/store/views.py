"""Where each view stands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from headwater.store import queries
from headwater.store.dialects import Database
from headwater.store.encoding import frontier_text, frontier_value, moment, stamp
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.frontier import Frontier

_SQL = queries.load("views")


class ViewState(StrEnum):
    """How far a view's first build is; only a ready view may be read or refreshed."""

    DEFERRED = "deferred"  # defined, nothing built yet
    BUILDING = "building"  # its first content is being made
    READY = "ready"  # holds its query's result at its frontier

    @property
    def is_readable(self) -> bool:
        return self is ViewState.READY


@dataclass(frozen=True, slots=True)
class ViewRecord:
    """One view as the ledger knows it."""

    name: str
    state: ViewState
    path: str
    table_id: str | None
    fingerprint: str
    compiled: str
    frontier: Frontier
    sequence: int
    table_version: int | None
    checked_version: int | None
    created_at: datetime
    updated_at: datetime

    @property
    def known_version(self) -> int | None:
        """The newest version of the view's table that is ours or was seen to be harmless."""
        known = [v for v in (self.table_version, self.checked_version) if v is not None]
        return max(known, default=None)


class Views:
    """Table `hw_view`: one row per view, a cache of what the view's own table says.

    It holds the state of the first build, the table's path and id, the fingerprint of the
    definition and its compiled form, and how far the view is: frontier, refresh sequence, and the
    table version of the last commit that was ours. `checked_version` is the newest version looked
    through for strangers' writes. Each method changes the columns it names and no other; moves are
    compare-and-set, so a late writer changes nothing and is told so.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def get(self, name: str) -> ViewRecord | None:
        """One view, or None."""
        rows = self._database.rows(_SQL["get_view"], {"name": name})
        return _record(rows[0]) if rows else None

    def list(self) -> tuple[ViewRecord, ...]:
        """Every view, by name."""
        return tuple(_record(row) for row in self._database.rows(_SQL["list_views"], {}))

    def create(
        self,
        name: str,
        *,
        path: str,
        fingerprint: str,
        compiled: str,
        state: ViewState = ViewState.DEFERRED,
        table_id: str | None = None,
        frontier: Frontier | None = None,
        sequence: int = 0,
        table_version: int | None = None,
    ) -> bool:
        """Add a view; false, and nothing changed, if the name is taken."""
        return self._change(
            "create_view",
            name=name,
            path=path,
            fingerprint=fingerprint,
            compiled=compiled,
            state=state.value,
            table_id=table_id,
            frontier=frontier_text(frontier or Frontier()),
            sequence=sequence,
            table_version=table_version,
        )

    def set_state(self, name: str, state: ViewState, *, expected: ViewState | None = None) -> bool:
        """Change the state only; with `expected`, only from that one."""
        if expected is None:
            return self._change("set_view_state", name=name, state=state.value)
        return self._change(
            "move_view_state", name=name, state=state.value, expected=expected.value
        )

    def redefine(self, name: str, *, fingerprint: str, compiled: str) -> bool:
        """Change the fingerprint and the compiled form only."""
        return self._change("redefine_view", name=name, fingerprint=fingerprint, compiled=compiled)

    def relocate(self, name: str, *, path: str, table_id: str | None) -> bool:
        """Change which table holds the view; what was checked of the old one is forgotten."""
        return self._change("relocate_view", name=name, path=path, table_id=table_id)

    def advance(
        self,
        name: str,
        *,
        expected_sequence: int,
        frontier: Frontier,
        sequence: int,
        table_version: int | None,
    ) -> bool:
        """Follow a commit of the view's table; false if another writer was here first.

        A repair after the table was restored may step back: the table is right, the ledger follows.
        """
        return self._change(
            "advance_view",
            name=name,
            expected_sequence=expected_sequence,
            frontier=frontier_text(frontier),
            sequence=sequence,
            table_version=table_version,
        )

    def move_frontier(self, name: str, *, expected: Frontier, frontier: Frontier) -> bool:
        """Move the frontier alone, for a refresh that had nothing to write."""
        return self._change(
            "move_view_frontier",
            name=name,
            expected=frontier_text(expected),
            frontier=frontier_text(frontier),
        )

    def mark_checked(self, name: str, *, expected_sequence: int, checked_version: int) -> bool:
        """Remember how far the view's table was looked through for strangers' writes."""
        parameters = {
            "name": name,
            "expected_sequence": expected_sequence,
            "checked_version": checked_version,
        }
        return self._database.change(_SQL["check_view"], parameters) == 1

    def remove(self, name: str) -> bool:
        """Forget a view; false if there was none."""
        return self._database.change(_SQL["remove_view"], {"name": name}) == 1

    def _change(self, query: str, **parameters: object) -> bool:
        parameters["now"] = stamp(self._clock.now())
        return self._database.change(_SQL[query], parameters) == 1


def _record(row: tuple[Any, ...]) -> ViewRecord:
    name, state, path, table_id, fingerprint, compiled, frontier, *versions, created, updated = row
    sequence, table_version, checked_version = versions
    return ViewRecord(
        name,
        ViewState(state),
        path,
        table_id,
        fingerprint,
        compiled,
        frontier_value(frontier),
        sequence,
        table_version,
        checked_version,
        moment(created),
        moment(updated),
    )
