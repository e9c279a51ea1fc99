"""Carries out what the coordinator asks for; each command ends as SUCCESS, or as ERROR with why."""

from __future__ import annotations

import traceback
from typing import Protocol

import structlog

from headwater.store.commands import CommandRecord
from headwater.store.ledger import Ledger
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.errors import LedgerUnreachable
from headwater.vocabulary.lifecycle.command import CommandKind, CommandState

_AT_ONCE = 200
"""Commands in one turn; more would keep the runner from reporting in time."""

log = structlog.get_logger(__name__)


class Hands(Protocol):
    """What a runner can do with a job; true when it is done, false when its end will be told."""

    def start_job(self, job: int) -> bool: ...

    def stop_job(self, job: int) -> bool: ...

    def scan_job(self, job: int) -> bool: ...

    def unscan_job(self, job: int) -> bool: ...


class Orders:
    """Takes commands and remembers those whose end is still to come.

    A command that was taken and never ended comes again at the next poll, because its answer may
    have been lost; one that is being carried out is not begun a second time.
    """

    def __init__(self, ledger: Ledger, clock: Clock, hands: Hands) -> None:
        self._ledger = ledger
        self._clock = clock
        self._acts = {
            CommandKind.START: hands.start_job,
            CommandKind.STOP: hands.stop_job,
            CommandKind.SCAN: hands.scan_job,
            CommandKind.NOSCAN: hands.unscan_job,
        }
        self._open: dict[tuple[int, CommandKind], int] = {}

    def step(self, runner: str) -> bool:
        """Take what there is and carry it out; false if there is more than one turn is for."""
        new = [
            command
            for command in self._ledger.commands.take(runner, self._clock.now())
            if self._open.get((command.job, command.kind)) != command.id
        ]
        for command in new[:_AT_ONCE]:
            self._obey(command)
        return len(new) <= _AT_ONCE

    def ended(self, job: int, kind: CommandKind, error: str | None = None) -> None:
        """What was still to come has come."""
        command = self._open.get((job, kind))
        if command is not None:
            self._end(command, error)
            self._open.pop((job, kind), None)

    def is_open(self, job: int, kind: CommandKind) -> bool:
        return (job, kind) in self._open

    def forget(self) -> None:
        """The runner was removed, and its commands with it."""
        self._open.clear()

    def _obey(self, command: CommandRecord) -> None:
        """Carry one out; if the ledger goes away on the way, it comes again and is done again."""
        self._open[command.job, command.kind] = command.id
        try:
            done, error = self._tried(command)
            if done:
                self.ended(command.job, command.kind, error)
        except LedgerUnreachable:
            self._open.pop((command.job, command.kind), None)
            raise

    def _tried(self, command: CommandRecord) -> tuple[bool, str | None]:
        try:
            return self._acts[command.kind](command.job), None
        except LedgerUnreachable:
            raise
        except Exception:
            log.warning("command_failed", command=command.kind.value, exc_info=True)
            return True, traceback.format_exc()

    def _end(self, command: int, error: str | None) -> None:
        state = CommandState.SUCCESS if error is None else CommandState.ERROR
        self._ledger.commands.end(command, state, error, self._clock.now())
