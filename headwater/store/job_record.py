"""One row of the jobs, read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from headwater.store.encoding import json_value, moment
from headwater.vocabulary.lifecycle.job import JobKind, JobState


@dataclass(frozen=True, slots=True)
class JobRecord:
    """One standing duty; `subject` is the view or source it is about.

    `placed_by` is what its place is chosen by, `spec` its settings as text, `retry` the waits after
    failures, `scan` the wish for one run over everything.
    """

    id: int
    account: str
    subject: str
    name: str
    kind: JobKind
    placed_by: str
    spec: str
    should_run: bool
    paused: bool
    scan: bool
    owner: str | None
    state: JobState
    sequence: int
    next_at: datetime | None
    retry: Mapping[str, Any] | None
    last_start: datetime | None
    last_success: datetime | None
    misses: int
    error: Mapping[str, Any] | None
    watermark: datetime | None
    registered_at: datetime
    dropped_at: datetime | None

    @property
    def is_wanted(self) -> bool:
        """Whether some runner is to own it."""
        return self.should_run and self.dropped_at is None

    def to_json(self) -> dict[str, Any]:
        values = {field: getattr(self, field) for field in _FIELDS if field != "spec"}
        shown = {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in values.items()
        }
        return {"job": shown.pop("id"), **shown, "spec": json_value(self.spec)}


def job_record(row: tuple[Any, ...]) -> JobRecord:
    """Read one row whose columns are in the order of the record's fields."""
    values = list(row)
    for position, read in _READERS:
        value = values[position]
        if value is not None:
            values[position] = read(value)
    return JobRecord(*values)


_FIELDS = tuple(field.name for field in fields(JobRecord))

_BY_FIELD: Mapping[str, Callable[[Any], object]] = {
    "kind": {kind.value: kind for kind in JobKind}.__getitem__,  # four times as fast as calling it
    "should_run": bool,
    "paused": bool,
    "scan": bool,
    "state": {state.value: state for state in JobState}.__getitem__,
    "next_at": moment,
    "retry": json_value,
    "last_start": moment,
    "last_success": moment,
    "error": json_value,
    "watermark": moment,
    "registered_at": moment,
    "dropped_at": moment,
}
_READERS = tuple((_FIELDS.index(name), read) for name, read in _BY_FIELD.items())
