"""How every view stands, from the ledger and the sources' logs; no Spark."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.store.attempt_record import AttemptRecord
from headwater.store.views import ViewRecord, ViewState
from headwater.vocabulary.errors import HeadwaterError
from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.receipt import AttemptState
from headwater.workspace import Workspace


@dataclass(frozen=True)
class ViewStatus:
    """One view for people who want to know how fresh it is."""

    view: str
    state: str
    policy: str
    frontier: Frontier
    behind: dict[str, int | None]  # source -> commits not read yet; None if its log is unreadable
    last_technique: str | None
    last_success: datetime | None
    running: str | None  # id of the attempt that runs now
    last_error: str | None

    def to_json(self) -> dict[str, Any]:
        return {
            "view": self.view,
            "state": self.state,
            "policy": self.policy,
            "frontier": self.frontier.to_json(),
            "behind": self.behind,
            "last_technique": self.last_technique,
            "last_success": self.last_success.isoformat() if self.last_success else None,
            "running": self.running,
            "last_error": self.last_error,
        }


def view_statuses(workspace: Workspace) -> list[ViewStatus]:
    """All views by name."""
    return [_status(workspace, record) for record in workspace.ledger.views.list()]


def _status(workspace: Workspace, record: ViewRecord) -> ViewStatus:
    attempts = workspace.ledger.attempts
    succeeded = attempts.list(record.name, AttemptState.SUCCEEDED, limit=1)
    latest = attempts.list(record.name, limit=1)
    claim = workspace.ledger.claims.get(record.name)
    alive = claim is not None and not claim.is_forfeit(workspace.clock.now())
    definition = workspace.definitions.views.get(record.name)
    return ViewStatus(
        record.name,
        _state(record, is_running=alive).value,
        definition.policy.value if definition else "",
        record.frontier,
        {
            source: _behind(workspace, source, seen.version)
            for source, seen in record.frontier.items()
        },
        succeeded[0].technique.value if succeeded and succeeded[0].technique else None,
        succeeded[0].ended_at if succeeded else None,
        claim.attempt if claim is not None and alive else None,
        _failure(latest),
    )


def _state(record: ViewRecord, *, is_running: bool) -> ViewState:
    """Whoever was building a view may have died; then nobody is."""
    if record.state is ViewState.BUILDING and not is_running:
        return ViewState.DEFERRED
    return record.state


def _failure(latest: tuple[AttemptRecord, ...]) -> str | None:
    if not latest or latest[0].state is not AttemptState.FAILED or latest[0].error is None:
        return None
    return str(latest[0].error.get("code") or latest[0].error.get("what"))


def _behind(workspace: Workspace, source: str, version: int) -> int | None:
    try:
        if workspace.is_view(source):
            return max(0, (workspace.view(source).table_version or 0) - version)
        return max(0, workspace.log_of(source).latest_version() - version)
    except HeadwaterError:
        return None
