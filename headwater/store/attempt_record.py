"""One row of the history of refreshes, read and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from headwater.store.encoding import (
    frontier_text,
    frontier_value,
    json_text,
    json_value,
    moment,
    optional_moment,
)
from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.profile import StepCost
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.receipt import AttemptState, Receipt
from headwater.vocabulary.technique import Technique


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One attempt to refresh a view; what is not known yet is None."""

    id: str
    view: str
    job: str
    manual: bool
    state: AttemptState
    technique: Technique | None
    started_at: datetime
    ended_at: datetime | None
    heartbeat_at: datetime
    delay_seconds: float | None
    seconds: float | None
    rows_inserted: int | None
    rows_deleted: int | None
    sequence: int | None
    table_version: int | None
    frontier_before: Frontier
    frontier_after: Frontier | None
    reasons: tuple[Reason, ...]
    profile: tuple[StepCost, ...]
    forecast: Mapping[str, float]
    concurrency: float
    error: Mapping[str, Any] | None
    cancel_requested_by: str | None
    cancel_requested_at: datetime | None

    @property
    def receipt(self) -> Receipt | None:
        """The receipt the attempt was closed with, if it had one."""
        if self.technique is None or self.frontier_after is None or self.sequence is None:
            return None
        return Receipt(
            attempt=self.id,
            view=self.view,
            technique=self.technique,
            frontier=self.frontier_after,
            frontier_before=self.frontier_before,
            sequence=self.sequence,
            table_version=self.table_version,
            rows_inserted=self.rows_inserted or 0,
            rows_deleted=self.rows_deleted or 0,
            started_at=self.started_at,
            seconds=self.seconds or 0.0,
            reasons=self.reasons,
            profile=self.profile,
            forecast=self.forecast,
            concurrency=self.concurrency,
        )

    def to_json(self) -> dict[str, Any]:
        after, ended, cancel = self.frontier_after, self.ended_at, self.cancel_requested_at
        return {
            "attempt": self.id,
            "view": self.view,
            "job": self.job,
            "manual": self.manual,
            "state": self.state.value,
            "technique": self.technique.value if self.technique else None,
            "started_at": self.started_at.isoformat(),
            "ended_at": ended.isoformat() if ended else None,
            "heartbeat_at": self.heartbeat_at.isoformat(),
            "delay_seconds": self.delay_seconds,
            "seconds": self.seconds,
            "rows_inserted": self.rows_inserted,
            "rows_deleted": self.rows_deleted,
            "sequence": self.sequence,
            "table_version": self.table_version,
            "frontier_before": self.frontier_before.to_json(),
            "frontier": after.to_json() if after is not None else None,
            "reasons": [{"code": r.code, "text": r.text} for r in self.reasons],
            "profile": [cost.to_json() for cost in self.profile],
            "forecast": dict(self.forecast),
            "concurrency": self.concurrency,
            "error": dict(self.error) if self.error is not None else None,
            "cancel_requested_by": self.cancel_requested_by,
            "cancel_requested_at": cancel.isoformat() if cancel else None,
        }


def outcome_columns(receipt: Receipt) -> dict[str, object]:
    """A receipt as the values of the row's columns; dates and state are added by the caller."""
    return {
        "id": receipt.attempt,
        "technique": receipt.technique.value,
        "seconds": receipt.seconds,
        "rows_inserted": receipt.rows_inserted,
        "rows_deleted": receipt.rows_deleted,
        "sequence": receipt.sequence,
        "table_version": receipt.table_version,
        "frontier_after": frontier_text(receipt.frontier),
        "reasons": json_text([[r.code, r.text] for r in receipt.reasons]),
        "profile": json_text([cost.to_json() for cost in receipt.profile]),
        "forecast": json_text(dict(receipt.forecast)),
        "concurrency": receipt.concurrency,
    }


def attempt_record(row: tuple[Any, ...]) -> AttemptRecord:
    """Read one row whose columns are in the order of the record's fields."""
    values = dict(zip(_FIELDS, row, strict=True))
    for name, read in _READERS.items():
        values[name] = read(values[name])
    return AttemptRecord(**values)


def _profile(text: str) -> tuple[StepCost, ...]:
    return tuple(StepCost.from_json(cost) for cost in json_value(text))


def _reasons(text: str) -> tuple[Reason, ...]:
    return tuple(Reason(code, words) for code, words in json_value(text))


_FIELDS = tuple(field.name for field in fields(AttemptRecord))

_READERS: Mapping[str, Callable[[Any], object]] = {
    "manual": bool,
    "state": AttemptState,
    "technique": lambda value: None if value is None else Technique(value),
    "started_at": moment,
    "ended_at": optional_moment,
    "heartbeat_at": moment,
    "frontier_before": frontier_value,
    "frontier_after": lambda text: None if text is None else frontier_value(text),
    "reasons": _reasons,
    "profile": _profile,
    "forecast": json_value,
    "error": lambda text: None if text is None else json_value(text),
    "cancel_requested_at": optional_moment,
}
