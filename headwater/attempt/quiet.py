"""Refreshes with nothing to do: no claim, no planner, no Spark, and nothing of them loaded."""

from __future__ import annotations

import re
from collections.abc import Mapping

from headwater.attempt.attempt import new_attempt_id
from headwater.attempt.receipts import Ran, Started, receipt_of
from headwater.attempt.request import Request
from headwater.plan.format import has_own_functions, is_current
from headwater.publish.publisher import Known, refuse_if_tampered
from headwater.store.views import ViewState
from headwater.vocabulary.errors import ViewNotReady
from headwater.vocabulary.frontier import Frontier, SourceVersion
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.technique import Technique
from headwater.workspace.settling import look
from headwater.workspace.workspace import Workspace

_READS_CLOCK = re.compile(
    r"(?i)\b(now|curdate|current_(date|timestamp|time)|localtimestamp|unix_timestamp|"
    r"today|tomorrow|yesterday)\b"
)
"""A quick look; whether the query really reads the clock is decided when it is compiled."""


def quiet_refresh(
    workspace: Workspace, name: str, pins: Mapping[str, SourceVersion], request: Request
) -> Receipt | None:
    """The receipt of a refresh that finds nothing new; None where there may be something."""
    started = Started.now(workspace.clock)
    known = look_for(workspace, name, request)
    target = _target(workspace, known, pins, request)
    if target is None or not _is_quiet(workspace, known, target, request):
        return None
    reasons = (Reason("NO_CHANGE", "no source has a new version"),)
    ran = Ran(Technique.SKIP, reasons)
    receipt = receipt_of(new_attempt_id(), known, target, started, ran)
    workspace.ledger.attempts.record(
        receipt, request.manual, job=request.job, delay_seconds=request.delay(started.at)
    )
    return receipt


def look_for(workspace: Workspace, name: str, request: Request) -> Known:
    """The view as its own table has it, if it may be refreshed as asked."""
    known = look(workspace, name)
    if known.record.state is not ViewState.READY and not request.building:
        raise ViewNotReady(f"{name} is {known.record.state.value}")
    if not request.full and not request.building:
        refuse_if_tampered(known)
    return known


def _target(
    workspace: Workspace, known: Known, pins: Mapping[str, SourceVersion], request: Request
) -> Frontier | None:
    """Where the view is to go; None where it may ask the clock what nobody wrote down."""
    definition = workspace.definitions.views[known.record.name]
    if not _READS_CLOCK.search(definition.query):
        return Frontier.of(pins)
    asked = known.record.frontier.clock
    return Frontier.of(pins, workspace.clock_values(asked, request.at)) if asked else None


def _is_quiet(workspace: Workspace, known: Known, target: Frontier, request: Request) -> bool:
    """No source has moved at all and nothing else asks for work."""
    if request.is_rebuild or request.building or known.stamp is None:
        return False
    definition = workspace.definitions.views[known.record.name]
    same_meaning = (
        known.stamp.definition == definition.fingerprint
        and known.stamp.settings == workspace.settings_fingerprint()
        and is_current(known.stamp.compiled)
        and not _may_call_another_body(workspace, known.stamp.compiled)
    )
    return same_meaning and known.record.frontier == target


def _may_call_another_body(workspace: Workspace, compiled: str) -> bool:
    """A session that has not started knows no function that could be another one."""
    return workspace.started_spark is not None and has_own_functions(compiled)
