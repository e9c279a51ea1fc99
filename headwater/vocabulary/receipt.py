"""What one attempt to refresh a view did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.profile import StepCost
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.technique import Technique


class AttemptState(StrEnum):
    """The life of one attempt; only RUNNING may move, and to exactly one of the others."""

    RUNNING = "running"  # claimed, heartbeating
    SUCCEEDED = "succeeded"  # its commit was read back as ours, or there was nothing to do
    FAILED = "failed"  # content and frontier are as before; the error says why
    CANCELED = "canceled"  # stopped on request before its commit
    ORPHANED = "orphaned"  # its process fell silent; the view's log tells what landed

    @property
    def is_terminal(self) -> bool:
        return self is not AttemptState.RUNNING


@dataclass(frozen=True)
class Receipt:
    """The outcome of a refresh, as the ledger keeps it and the API returns it."""

    attempt: str
    view: str
    technique: Technique
    frontier: Frontier
    frontier_before: Frontier
    sequence: int
    table_version: int | None
    rows_inserted: int
    rows_deleted: int
    started_at: datetime
    seconds: float
    reasons: tuple[Reason, ...] = ()
    profile: tuple[StepCost, ...] = field(default=())
    forecast: Mapping[str, float] = field(default_factory=dict)  # technique -> the model's seconds
    concurrency: float = 1.0  # refreshes at the same time in this process, with this one

    def to_json(self) -> dict[str, Any]:
        return {
            "attempt": self.attempt,
            "view": self.view,
            "technique": self.technique.value,
            "frontier": self.frontier.to_json(),
            "frontier_before": self.frontier_before.to_json(),
            "sequence": self.sequence,
            "table_version": self.table_version,
            "rows_inserted": self.rows_inserted,
            "rows_deleted": self.rows_deleted,
            "started_at": self.started_at.isoformat(),
            "seconds": round(self.seconds, 4),
            "reasons": [{"code": r.code, "text": r.text} for r in self.reasons],
            "profile": [cost.to_json() for cost in self.profile],
            "forecast": {name: round(seconds, 4) for name, seconds in self.forecast.items()},
            "concurrency": self.concurrency,
        }
