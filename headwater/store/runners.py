"""Which processes take part."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.store import queries
from headwater.store.dialects import Database
from headwater.store.encoding import moment, stamp
from headwater.store.leases import Leases, Term
from headwater.store.marks import Mark, Marks
from headwater.vocabulary.lifecycle.runner import RUNNER, RunnerState

_SQL = queries.load("runners")


@dataclass(frozen=True, slots=True)
class RunnerRecord:
    """One registered runner as it last reported."""

    id: str
    address: str
    state: RunnerState
    beat: int
    slots: int
    running: int
    registered_at: datetime
    reported_at: datetime

    def to_json(self) -> dict[str, Any]:
        return {
            "runner": self.id,
            "address": self.address,
            "state": self.state.value,
            "slots": self.slots,
            "running": self.running,
            "registered_at": self.registered_at.isoformat(),
            "reported_at": self.reported_at.isoformat(),
        }


class Runners:
    """Table `hw_runner`: one row per runner that takes part, at most one per address.

    A runner makes its row with a fresh id, reports on it, and learns from its absence that it was
    removed. `beat` grows with every report, so that silence can be told without comparing clocks.
    Whatever removes a row also frees the runner's jobs and forgets its pending commands, in one
    transaction.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._marks = Marks(database)
        self._leases = Leases(database)

    def register(self, runner: str, address: str, slots: int, now: datetime) -> None:
        """Take part from now on; whoever was at this address before no longer does."""
        with self._database.transaction():
            for (other,) in self._database.rows(_SQL["find_runner_at"], {"address": address}):
                self._forget(other)
                self._database.change(_SQL["remove_runner"], {"id": other})
            self._add(runner, address, slots, now)
            self._marks.bump(Mark.RUNNERS)

    def register_again(self, runner: str, address: str, slots: int, now: datetime) -> bool:
        """Take part again after the row vanished; false while a later runner has the address."""
        with self._database.transaction():
            added = self._add(runner, address, slots, now)
            if added:
                self._marks.bump(Mark.RUNNERS)
        return added

    def report(self, runner: str, *, running: int, slots: int, now: datetime) -> bool:
        """Show that the runner lives; false if its row is gone: then it owns nothing."""
        parameters = {"id": runner, "running": running, "slots": slots, "now": stamp(now)}
        return self._database.change(_SQL["report_runner"], parameters) == 1

    def set_state(self, runner: str, state: RunnerState, *, expected: RunnerState) -> bool:
        """Drain, or take part again; false if the runner is not in the expected state."""
        RUNNER.check(expected, state)
        parameters = {"id": runner, "state": state.value, "expected": expected.value}
        with self._database.transaction():
            changed = self._database.change(_SQL["set_runner_state"], parameters) == 1
            if changed:
                self._marks.bump(Mark.RUNNERS)
        return changed

    def leave(self, runner: str) -> bool:
        """Take part no longer; false if the row was gone already."""
        with self._database.transaction():
            self._forget(runner)
            left = self._database.change(_SQL["remove_runner"], {"id": runner}) == 1
            if left:
                self._marks.bump(Mark.RUNNERS)
        return left

    def remove(self, seen: RunnerRecord, term: Term) -> bool:
        """Remove a runner that was silent since it was seen so; false if it has reported."""
        parameters = {"id": seen.id, "beat": seen.beat, **term.parameters}
        with self._leases.held(term):
            if self._database.change(_SQL["remove_silent_runner"], parameters) != 1:
                return False
            self._forget(seen.id)
            self._marks.bump(Mark.RUNNERS)
        return True

    def get(self, runner: str) -> RunnerRecord | None:
        """One runner, or None."""
        rows = self._database.rows(_SQL["get_runner"], {"id": runner})
        return _record(rows[0]) if rows else None

    def list(self) -> tuple[RunnerRecord, ...]:
        """All runners, by address."""
        return tuple(_record(row) for row in self._database.rows(_SQL["list_runners"], {}))

    def _add(self, runner: str, address: str, slots: int, now: datetime) -> bool:
        parameters = {"id": runner, "address": address, "slots": slots, "now": stamp(now)}
        return self._database.change(_SQL["register_runner"], parameters) == 1

    def _forget(self, runner: str) -> None:
        self._database.change(_SQL["free_jobs_of_runner"], {"id": runner})
        self._database.change(_SQL["drop_commands_of_runner"], {"id": runner})


def _record(row: tuple[Any, ...]) -> RunnerRecord:
    id_, address, state, beat, slots, running, registered_at, reported_at = row
    return RunnerRecord(
        id_,
        address,
        RunnerState(state),
        beat,
        slots,
        running,
        moment(registered_at),
        moment(reported_at),
    )
