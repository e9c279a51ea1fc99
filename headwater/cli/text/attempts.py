"""The history of refreshes."""

from __future__ import annotations

from collections.abc import Iterable

from headwater.cli import figures
from headwater.cli.blocks import Table, table
from headwater.store.attempt_record import AttemptRecord

_LONGEST = 60


def history_table(attempts: Iterable[AttemptRecord]) -> Table:
    """A line per attempt, newest first."""
    return table(
        "attempt view state technique started took rows note",
        [
            (
                attempt.id,
                attempt.view,
                attempt.state.value,
                attempt.technique.value if attempt.technique else "",
                figures.clock_time(attempt.started_at),
                figures.seconds(attempt.seconds),
                figures.rows(attempt.rows_inserted, attempt.rows_deleted),
                _note(attempt),
            )
            for attempt in attempts
        ],
        right="took rows",
        empty="nothing was refreshed yet",
    )


def _note(attempt: AttemptRecord) -> str:
    """The error if it failed, else the first reason for its technique."""
    if attempt.error is not None:
        return _short(f"{attempt.error.get('code') or ''} {attempt.error.get('what') or ''}")
    return attempt.reasons[0].code if attempt.reasons else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
