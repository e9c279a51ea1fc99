"""What runners are asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headwater.store import queries
from headwater.store.dialects import Database
from headwater.store.encoding import moment, optional_moment, stamp
from headwater.store.leases import Term
from headwater.vocabulary.lifecycle.command import COMMAND, CommandKind, CommandState

_SQL = queries.load("commands")
_TRIM_BATCH = 5_000


@dataclass(frozen=True, slots=True)
class CommandRecord:
    """One command; `detail` is None unless it failed."""

    id: int
    runner: str
    kind: CommandKind
    job: int
    term: int
    state: CommandState
    detail: str | None
    created_at: datetime
    taken_at: datetime | None
    ended_at: datetime | None


class Commands:
    """Table `hw_command`: START, STOP, SCAN and NOSCAN, from the coordinator to one runner.

    A command is written once, under the coordinator's term, and no second one is while the same is
    pending. Taking marks it; a runner whose answer got lost is handed its unfinished commands
    again, so carrying one out twice must do no harm. Ended ones are kept for a day.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self, runner: str, kind: CommandKind, job: int, *, term: Term, now: datetime
    ) -> bool:
        """Ask a runner for something; false if it is gone, is already asked, or the term is over.

        Who creates commands bumps the mark of commands once for all of them.
        """
        parameters = {"runner": runner, "kind": kind.value, "job": job, "now": stamp(now)}
        return self._change("create_command", **parameters, **term.parameters)

    def take(self, runner: str, now: datetime) -> tuple[CommandRecord, ...]:
        """All that a runner is to carry out, oldest first."""
        parameters = {"runner": runner, "now": stamp(now)}
        rows = self._database.rows(_SQL["take_commands"], parameters)
        return tuple(sorted(map(_record, rows), key=lambda command: command.id))

    def end(self, command: int, state: CommandState, detail: str | None, now: datetime) -> bool:
        """Close a taken command; false if it is closed or gone already."""
        COMMAND.check(CommandState.TAKEN, state)
        return self._change(
            "end_command", id=command, state=state.value, detail=detail, now=stamp(now)
        )

    def withdraw(self, command: int, why: str, *, term: Term, now: datetime) -> bool:
        """Close a command that nobody has taken; false if somebody has."""
        parameters = {"id": command, "detail": why, "now": stamp(now)}
        return self._change("withdraw_command", **parameters, **term.parameters)

    def pending(self) -> tuple[CommandRecord, ...]:
        """Everything that is not ended, oldest first."""
        rows = self._database.rows(_SQL["list_pending_commands"], {})
        return tuple(map(_record, rows))

    def failed(self, since: datetime) -> tuple[CommandRecord, ...]:
        """What was carried out and failed since a moment, oldest first."""
        rows = self._database.rows(_SQL["list_failed_commands"], {"since": stamp(since)})
        return tuple(map(_record, rows))

    def of_job(self, job: int, limit: int = 20) -> tuple[CommandRecord, ...]:
        """The newest commands about a job."""
        rows = self._database.rows(_SQL["list_commands_of_job"], {"job": job, "limit": limit})
        return tuple(map(_record, rows))

    def trim(self, now: datetime, keep_days: float = 1, keep_rows: int = 100_000) -> int:
        """Drop what is older or more than is kept, in short transactions; never a pending one."""
        before = stamp(now - timedelta(days=keep_days))
        dropped = 0
        while batch := self._trim("trim_old_commands", _TRIM_BATCH, before):
            dropped += batch
        surplus = self._database.rows(_SQL["count_ended_commands"], {})[0][0] - keep_rows
        while surplus > 0 and (
            batch := self._trim("trim_surplus_commands", min(surplus, _TRIM_BATCH))
        ):
            dropped += batch
            surplus -= batch
        return dropped

    def _trim(self, query: str, batch: int, ended_before: str | None = None) -> int:
        parameters = {"batch": batch, "ended_before": ended_before}
        return self._database.change(_SQL[query], parameters)

    def _change(self, query: str, **parameters: object) -> bool:
        return self._database.change(_SQL[query], parameters) == 1


def _record(row: tuple[Any, ...]) -> CommandRecord:
    id_, runner, kind, job, term, state, detail, created_at, taken_at, ended_at = row
    return CommandRecord(
        id_,
        runner,
        CommandKind(kind),
        job,
        term,
        CommandState(state),
        detail,
        moment(created_at),
        optional_moment(taken_at),
        optional_moment(ended_at),
    )
