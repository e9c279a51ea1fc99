"""How every view stands, from the ledger and the sources' logs; no Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from headwater.control.spec import read_spec
from headwater.graph.pins import is_dictionary
from headwater.store.attempt_record import AttemptRecord
from headwater.store.claims import Claim
from headwater.store.job_record import JobRecord
from headwater.store.ledger import Ledger
from headwater.store.views import ViewRecord, ViewState
from headwater.vocabulary.errors import HeadwaterError
from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.lifecycle.job import JobKind
from headwater.vocabulary.lifecycle.refresh import RefreshState
from headwater.vocabulary.receipt import AttemptState
from headwater.workspace.workspace import Workspace


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
    refresh: str = RefreshState.IDLE.value
    owner: str | None = None  # address of the runner that keeps it
    next_run: datetime | None = None  # None where a commit or a user decides, or nobody serves
    trigger: str = ""
    lag_seconds: float | None = None  # since the last success, 0 when nothing due is unread
    target_lag_seconds: float | None = None
    alert: str = "fine"
    dictionaries: tuple[str, ...] = ()  # BATCH sources: unread until their cadence comes
    handler: str | None = None  # moves it with other views

    @property
    def due(self) -> dict[str, int | None]:
        """What is unread and does not wait for the dictionary cadence."""
        return {name: count for name, count in self.behind.items() if name not in self.dictionaries}

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
            "refresh": self.refresh,
            "owner": self.owner,
            "next_run": self.next_run.isoformat() if self.next_run else None,
            "trigger": self.trigger,
            "lag_seconds": self.lag_seconds,
            "target_lag_seconds": self.target_lag_seconds,
            "alert": self.alert,
            "dictionaries": list(self.dictionaries),
            "handler": self.handler,
        }


@dataclass(frozen=True)
class _Kept:
    """What the control plane knows of all views, read once."""

    jobs: Mapping[str, JobRecord]
    addresses: Mapping[str, str]
    alerts: Mapping[str, str]

    @classmethod
    def read(cls, ledger: Ledger) -> _Kept:
        jobs = (job for job in ledger.jobs.list() if job.dropped_at is None)
        return cls(
            {
                view: job
                for job in jobs
                if job.kind is JobKind.REFRESH
                for view in read_spec(job.spec).views or (job.subject,)
            },
            {runner.id: runner.address for runner in ledger.runners.list()},
            {alert.subject: alert.level for alert in ledger.events.alerts()},
        )


def view_statuses(workspace: Workspace) -> list[ViewStatus]:
    """All views by name."""
    kept = _Kept.read(workspace.ledger)
    return [
        _with_upkeep(workspace, kept, _status(workspace, record))
        for record in workspace.ledger.views.list()
    ]


def _with_upkeep(workspace: Workspace, kept: _Kept, status: ViewStatus) -> ViewStatus:
    job, definition = kept.jobs.get(status.view), workspace.definitions.views.get(status.view)
    target = definition.target_lag if definition else None
    handlers = workspace.definitions.handlers.values()
    return replace(
        status,
        owner=kept.addresses.get(job.owner or "") if job else None,
        next_run=job.next_at if job and job.owner else None,
        trigger=str(definition.trigger) if definition else "",
        lag_seconds=_lag(status, workspace.clock.now()),
        target_lag_seconds=target.total_seconds() if isinstance(target, timedelta) else None,
        alert=kept.alerts.get(job.subject if job else status.view, "fine"),
        handler=next((h.name for h in handlers if status.view in h.views), None),
    )


def _lag(status: ViewStatus, now: datetime) -> float | None:
    """At most how old the content is; nothing where all that there is has been read."""
    if status.behind and not any(status.due.values()):
        return 0.0
    return None if status.last_success is None else (now - status.last_success).total_seconds()


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
        _refresh_state(claim if alive else None).value,
        dictionaries=tuple(name for name in record.frontier if is_dictionary(workspace, name)),
    )


def _refresh_state(claim: Claim | None) -> RefreshState:
    if claim is None:
        return RefreshState.IDLE
    return RefreshState.FINISHING if claim.is_finishing else RefreshState.REFRESHING


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
