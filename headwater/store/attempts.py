"""The history of refreshes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from headwater.store import queries
from headwater.store.attempt_record import AttemptRecord, attempt_record, outcome_columns
from headwater.store.dialects import Database
from headwater.store.encoding import END_OF_TIME, frontier_text, optional_json, stamp
from headwater.vocabulary.errors import UnknownName, WrongUse
from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.receipt import AttemptState, Receipt
from headwater.vocabulary.technique import Technique

_SQL = queries.load("attempts")
_TRIM_BATCH = 5_000


class Attempts:
    """Table `hw_attempt`: one row per attempt to refresh a view, kept 7 days and 1 M rows.

    A row opens as `running` when the attempt starts and closes once, as `succeeded`, `failed`,
    `canceled` or `orphaned` (its process fell silent). It tells the job, technique, manual or
    automatic, start, end, delay against the schedule, rows, the frontier before and after, the
    reasons for the technique, each step's cost, the error, the last heartbeat, and who asked for it
    to be cancelled and when. A refresh that found nothing to do is one insert.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def start(
        self,
        attempt: str,
        view: str,
        job: str,
        *,
        manual: bool,
        started_at: datetime,
        frontier_before: Frontier,
        delay_seconds: float | None = None,
    ) -> bool:
        """Open an attempt's row; false if the id was used before."""
        parameters = {
            "id": attempt,
            "view": view,
            "job": job,
            "manual": manual,
            "started_at": stamp(started_at),
            "delay_seconds": delay_seconds,
            "frontier_before": frontier_text(frontier_before),
        }
        return self._database.change(_SQL["start_attempt"], parameters) == 1

    def record(
        self,
        receipt: Receipt,
        manual: bool,  # noqa: FBT001  (the second thing every caller knows; reads well by name)
        *,
        job: str | None = None,
        delay_seconds: float | None = None,
    ) -> bool:
        """Write an attempt that already succeeded; false if the id was used before."""
        parameters = {
            **outcome_columns(receipt),
            "view": receipt.view,
            "job": job or receipt.view,
            "manual": manual,
            "started_at": stamp(receipt.started_at),
            "ended_at": stamp(receipt.started_at + timedelta(seconds=receipt.seconds)),
            "delay_seconds": delay_seconds,
            "frontier_before": frontier_text(receipt.frontier_before),
        }
        return self._database.change(_SQL["record_attempt"], parameters) == 1

    def heartbeat(self, attempt: str, now: datetime) -> bool:
        """Show that the attempt lives; false once it is no longer running."""
        return self._change("beat_attempt", id=attempt, now=stamp(now))

    def set_technique(self, attempt: str, technique: Technique) -> bool:
        """Note what a running attempt has settled on."""
        return self._change("set_attempt_technique", id=attempt, technique=technique.value)

    def finish(
        self,
        attempt: str,
        state: AttemptState,
        *,
        ended_at: datetime,
        receipt: Receipt | None = None,
        error: Mapping[str, object] | None = None,
    ) -> bool:
        """Close a running attempt; false if it was closed already, by whomever."""
        if not state.is_terminal:
            raise WrongUse(f"an attempt cannot finish as {state.value}")
        closing: dict[str, object] = {
            "state": state.value,
            "ended_at": stamp(ended_at),
            "error": optional_json(error),
        }
        if receipt is None:
            return self._change("end_attempt", id=attempt, **closing)
        outcome = outcome_columns(receipt) | {"id": attempt} | closing
        return self._change("finish_attempt", **outcome)

    def get(self, attempt: str) -> AttemptRecord | None:
        """One attempt, or None."""
        rows = self._database.rows(_SQL["get_attempt"], {"id": attempt})
        return attempt_record(rows[0]) if rows else None

    def list(
        self,
        view: str | None = None,
        state: AttemptState | None = None,
        limit: int = 100,
        before: str | None = None,
    ) -> tuple[AttemptRecord, ...]:
        """The newest attempts first; `before` is the last id of the page before this one."""
        query = "list_attempts"
        query += "_of_view" if view is not None else ""
        query += "_in_state" if state is not None else ""
        before_at, before_id = self._position(before)
        parameters = {
            "view": view,
            "state": state.value if state is not None else None,
            "limit": limit,
            "before_at": before_at,
            "before_id": before_id,
        }
        return tuple(attempt_record(row) for row in self._database.rows(_SQL[query], parameters))

    def measured(self, view: str | None = None, *, limit: int) -> tuple[AttemptRecord, ...]:
        """The newest refreshes that teach what one takes, of one view or of all; no profiles."""
        query = "list_attempts_measured" + ("_of_view" if view is not None else "")
        rows = self._database.rows(_SQL[query], {"view": view, "limit": limit})
        return tuple(attempt_record(row) for row in rows)

    def request_cancel(self, attempt: str, by: str, now: datetime) -> bool:
        """Ask a running attempt to stop; false if it is not running. The first asker is kept."""
        return self._change("request_cancel", id=attempt, by=by, now=stamp(now))

    def cancel_requested(self, attempt: str) -> bool:
        """Tell whether somebody asked the attempt to stop."""
        return bool(self._database.rows(_SQL["get_cancel_request"], {"id": attempt}))

    def orphan_silent(self, now: datetime, limit_seconds: float) -> tuple[str, ...]:
        """Close every running attempt without heartbeat for the limit; returns their ids."""
        silent_since = now - timedelta(seconds=limit_seconds)
        parameters = {"now": stamp(now), "silent_since": stamp(silent_since)}
        rows = self._database.rows(_SQL["orphan_silent_attempts"], parameters)
        return tuple(sorted(row[0] for row in rows))

    def trim(self, now: datetime, keep_days: float = 7, keep_rows: int = 1_000_000) -> int:
        """Drop what is older or more than is kept, in short transactions; never a running one."""
        ended_before = stamp(now - timedelta(days=keep_days))
        dropped = 0
        while batch := self._trim_batch("trim_old_attempts", _TRIM_BATCH, ended_before):
            dropped += batch
        surplus = self._database.rows(_SQL["count_attempts"], {})[0][0] - keep_rows
        while surplus > 0 and (
            batch := self._trim_batch("trim_surplus_attempts", min(surplus, _TRIM_BATCH))
        ):
            dropped += batch
            surplus -= batch
        return dropped

    def _trim_batch(self, query: str, batch: int, ended_before: str | None = None) -> int:
        parameters = {"batch": batch, "ended_before": ended_before}
        return self._database.change(_SQL[query], parameters)

    def _position(self, before: str | None) -> tuple[str, str]:
        """Where a page starts; an id that is not in the history is an error, not an empty page."""
        if before is None:
            return END_OF_TIME, ""
        found = self.get(before)
        if found is None:
            raise UnknownName(f"no attempt {before} in the history")
        return stamp(found.started_at), found.id

    def _change(self, query: str, **parameters: object) -> bool:
        return self._database.change(_SQL[query], parameters) == 1
