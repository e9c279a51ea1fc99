"""The refresh path on one page: capture -> plan -> execute -> commit -> publish."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from headwater.attempt import Attempt, new_attempt_id
from headwater.capture.changes import ChangeKind, ChangeSet, capture_changes
from headwater.capture.view_log import find_attempt
from headwater.commit.committer import Landed, commit
from headwater.commit.target import TABLE_PROPERTIES, Target
from headwater.compiled_views import (
    compile_definition,
    compiled_text,
    compiled_view,
    stored_tables,
)
from headwater.execute.cause import cause_of
from headwater.execute.executor import Executor
from headwater.execute.isolated import isolated, tagged
from headwater.execute.own_functions import own_functions
from headwater.execute.staged import Staged
from headwater.plan.compiled import is_current
from headwater.plan.planner import Choice, Situation, choose, plan_refresh
from headwater.plan.steps import RefreshPlan
from headwater.plan.strategies.inputs import SourceWindow, used_fields
from headwater.plan.view import CompiledView
from headwater.publish.publisher import (
    Known,
    publish_commit,
    publish_quiet,
    refuse_if_tampered,
    settle,
)
from headwater.store.views import ViewState
from headwater.vocabulary.errors import (
    AsOfBelowFrontier,
    CommitFailed,
    HeadwaterError,
    RefreshCanceled,
    RefreshFenced,
    SparkFailed,
    ViewNotReady,
)
from headwater.vocabulary.frontier import Frontier, SourceVersion
from headwater.vocabulary.names import TRANSACTION_APP
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.receipt import Receipt, StepCost
from headwater.vocabulary.stamp import Stamp
from headwater.vocabulary.technique import Policy, Technique
from headwater.workspace import Pending, Workspace

_READS_CLOCK = re.compile(
    r"(?i)\b(now|curdate|current_(date|timestamp|time|timezone)|localtimestamp|unix_timestamp)\b"
)
"""A quick look; whether the query really reads the clock is decided when it is compiled."""


@dataclass(frozen=True)
class Request:
    """How a refresh was asked for."""

    technique: Technique | None = None
    full: bool = False
    building: bool = False  # first build or redefinition: the view need not be ready
    manual: bool = True

    @property
    def forced(self) -> Technique | None:
        return Technique.REBUILD if self.full else self.technique

    @property
    def is_rebuild(self) -> bool:
        """Asks for work even where nothing has changed; no other technique does."""
        return self.forced is Technique.REBUILD


def refresh_view(
    workspace: Workspace, name: str, pins: Mapping[str, SourceVersion], request: Request
) -> Receipt:
    """Move one view to the pinned versions of what it reads, or say why not."""
    started, clock = workspace.clock.now(), time.perf_counter()
    known = _look(workspace, name, request)
    if _is_quiet(workspace, known, pins, request):
        return _nothing_to_do(workspace, known, pins, started, clock, request)
    with Attempt(workspace, name, manual=request.manual, frontier=known.record.frontier) as attempt:
        try:
            known, landed, ran = _refresh_claimed(workspace, name, pins, request, attempt)
        finally:
            workspace.pending.pop(name, None)
        receipt = _receipt(attempt.id, known, pins, started, clock, landed, ran)
        workspace.observer("publish")
        attempt.succeed(receipt)
    workspace.observer("done")
    return receipt


def _refresh_claimed(
    workspace: Workspace,
    name: str,
    pins: Mapping[str, SourceVersion],
    request: Request,
    attempt: Attempt,
) -> tuple[Known, Landed | None, Ran]:
    """The path itself, while nobody else refreshes the view."""
    attempt.checkpoint("capture")
    known = _look(workspace, name, request)
    view = compiled_view(workspace, name)
    changes = capture(workspace, view, known, pins)
    situation = situate(workspace, view, known, changes, pins, request)
    if _is_lost(changes) or any(r.code == "FUNCTION_CHANGED" for r in situation.must_rebuild):
        view, situation = _compiled_anew(workspace, view, situation)
    if situation.changed or situation.must_rebuild or request.is_rebuild:
        landed, ran = _run(workspace, view, known, situation, pins, attempt)
    else:
        landed, ran = None, Ran(Technique.SKIP, (), _quiet_reasons(changes))
        publish_quiet(workspace.ledger, known.record, Frontier.of(pins))
    return known, landed, replace(ran, reasons=(*ran.reasons, *_notes(changes)))


@dataclass(frozen=True)
class Ran:
    """Which way a refresh went."""

    technique: Technique
    costs: tuple[StepCost, ...]
    reasons: tuple[Reason, ...]


def _run(
    workspace: Workspace,
    view: CompiledView,
    known: Known,
    situation: Situation,
    pins: Mapping[str, SourceVersion],
    attempt: Attempt,
) -> tuple[Landed | None, Ran]:
    """Plan, execute, commit, publish; once more by rebuild if an incremental way breaks down."""
    attempt.checkpoint("plan")
    choice = choose(view, situation)
    workspace.ledger.attempts.set_technique(attempt.id, choice.technique)
    plan = plan_refresh(view, situation, choice)
    try:
        landed, costs = _carry_out(workspace, view, known, situation, plan, pins, attempt)
    except (SparkFailed, CommitFailed) as error:
        if not _may_fall_back(situation, choice, error):
            raise
        why = Reason("INCREMENTAL_FAILED", f"{choice.technique}: {error.what[:300]}")
        again = replace(situation, must_rebuild=(why,), forced=None)
        return _run(workspace, view, known, again, pins, attempt)
    if landed is None and choice.technique is not Technique.REBUILD:
        why = Reason("NO_ROW_CHANGED", f"by {choice.technique}: no row of the view is different")
        return None, Ran(Technique.SKIP, costs, (why,))
    return landed, Ran(choice.technique, costs, choice.reasons)


def _carry_out(
    workspace: Workspace,
    view: CompiledView,
    known: Known,
    situation: Situation,
    plan: RefreshPlan,
    pins: Mapping[str, SourceVersion],
    attempt: Attempt,
) -> tuple[Landed | None, tuple[StepCost, ...]]:
    with tagged(workspace.spark, attempt.tag):
        staged = execute(workspace, view, known, situation, plan, attempt)
        frontier = Frontier.of(pins)
        if staged.is_empty and situation.exists:
            publish_quiet(workspace.ledger, known.record, frontier)
            return None, staged.costs
        attempt.checkpoint("commit")
        target = _target(workspace, view, known, plan, frontier, attempt)
        started = time.perf_counter()
        log = workspace.log_of(view.name)
        landed = commit(staged, target, lambda id_, after: find_attempt(log, id_, after))
    cost = StepCost("commit", time.perf_counter() - started, landed.rows_inserted)
    workspace.observer("committed")
    publish_commit(workspace.ledger, known.record, target.stamp, landed.version)
    workspace.settle_pending(view.name)
    return landed, (*staged.costs, cost)


# --- capture ------------------------------------------------------------------------------------


def _look(workspace: Workspace, name: str, request: Request) -> Known:
    """The view as its own table has it; the ledger is repaired on the way."""
    record = workspace.view(name)
    known = settle(workspace.ledger, record, workspace.log_of(name))
    if known.record.state is not ViewState.READY and not request.building:
        raise ViewNotReady(f"{name} is {known.record.state.value}")
    if not request.full and not request.building:
        refuse_if_tampered(known)
    return known


def _is_quiet(
    workspace: Workspace, known: Known, pins: Mapping[str, SourceVersion], request: Request
) -> bool:
    """No source has moved at all and nothing else asks for work: no claim, no Spark."""
    if request.is_rebuild or request.building or known.stamp is None:
        return False
    definition = workspace.definitions.views[known.record.name]
    if _READS_CLOCK.search(definition.query):
        return False
    same_meaning = (
        known.stamp.definition == definition.fingerprint
        and known.stamp.settings == workspace.settings_fingerprint()
    )
    return same_meaning and known.record.frontier == Frontier.of(pins)


def capture(
    workspace: Workspace, view: CompiledView, known: Known, pins: Mapping[str, SourceVersion]
) -> dict[str, ChangeSet]:
    """What changed in each source between the view's frontier and the pin."""
    found = {}
    for source, pin in pins.items():
        since = known.record.frontier.get(source)
        if since is None or known.stamp is None:
            continue
        _refuse_rewind(view.name, source, since, pin)
        used = frozenset(used_fields(view.query.root, source))
        found[source] = capture_changes(
            workspace.log_of(source),
            source=source,
            since=since,
            up_to=pin.version,
            used_columns=used or None,
            own=workspace.is_view(source),
        )
    return found


def _refuse_rewind(view: str, source: str, since: SourceVersion, pin: SourceVersion) -> None:
    if pin.table_id == since.table_id and pin.version < since.version:
        raise AsOfBelowFrontier(
            f"{view} has already read {source} up to version {since.version}, "
            f"version {pin.version} was asked for"
        )


def situate(
    workspace: Workspace,
    view: CompiledView,
    known: Known,
    changes: Mapping[str, ChangeSet],
    pins: Mapping[str, SourceVersion],
    request: Request,
) -> Situation:
    """All that decides which techniques are sound."""
    definition = workspace.definitions.views[view.name]
    windows = {source: _window(source, pin, changes.get(source)) for source, pin in pins.items()}
    lost = tuple(
        reason
        for change in changes.values()
        if change.kind in {ChangeKind.REPLACE, ChangeKind.GAP}
        for reason in change.reasons
    )
    return Situation(
        windows,
        (*_meaning_changed(workspace, view, known), *lost),
        exists=known.stamp is not None
        and known.stamp.definition == definition.fingerprint
        and is_current(known.stamp.compiled),
        policy=Policy.FULL if request.full else definition.policy,
        forced=request.forced,
    )


def _is_lost(changes: Mapping[str, ChangeSet]) -> bool:
    return any(change.kind in {ChangeKind.REPLACE, ChangeKind.GAP} for change in changes.values())


def _compiled_anew(
    workspace: Workspace, view: CompiledView, situation: Situation
) -> tuple[CompiledView, Situation]:
    """A source that was replaced may have other columns; then the view's table may have too."""
    definition = workspace.definitions.views[view.name]
    compilation = compile_definition(workspace, view.name)
    workspace.pending[view.name] = Pending(definition, compilation.to_json())
    fresh = compiled_view(workspace, view.name)
    same = (fresh.columns, fresh.layout.columns) == (view.columns, view.layout.columns)
    return fresh, replace(situation, exists=situation.exists and same)


def _functions_now(workspace: Workspace, view: CompiledView) -> dict[str, str]:
    found = own_functions(workspace.spark, view.functions)
    return {name: function.fingerprint for name, function in found.items()}


def _meaning_changed(workspace: Workspace, view: CompiledView, known: Known) -> tuple[Reason, ...]:
    if known.stamp is None:
        return (Reason("FIRST_BUILD", "the view has no content yet"),)
    clock = tuple(reason for reason in view.reasons if reason.code == "CLOCK_DEPENDENT")
    return clock or _stored_otherwise(workspace, view, known.stamp)


def _stored_otherwise(workspace: Workspace, view: CompiledView, stamp: Stamp) -> tuple[Reason, ...]:
    """Why the content that is there does not mean what the view means now."""
    if stamp.definition != workspace.definitions.views[view.name].fingerprint:
        return (Reason("DEFINITION_CHANGED", "the view was defined anew"),)
    if not is_current(stamp.compiled):
        return (Reason("UPKEEP_CHANGED", "an older version of Headwater stored the view"),)
    if view.functions and view.functions != _functions_now(workspace, view):
        return (Reason("FUNCTION_CHANGED", "a function of your own has another body"),)
    if stamp.settings != workspace.settings_fingerprint():
        return (Reason("SETTINGS_CHANGED", "session settings that results depend on changed"),)
    return ()


def _window(source: str, pin: SourceVersion, change: ChangeSet | None) -> SourceWindow:
    if change is None:
        return SourceWindow(source, None, pin.version, changed=True)
    return SourceWindow(
        source,
        change.from_version,
        pin.version,
        changed=change.kind is not ChangeKind.NONE,
        inserts_only=change.kind is ChangeKind.APPEND and change.has_feed,
        has_feed=change.has_feed,
        rows=change.rows,
        total_rows=change.total_rows,
    )


# --- execute, commit ----------------------------------------------------------------------------


def execute(
    workspace: Workspace,
    view: CompiledView,
    known: Known,
    situation: Situation,
    plan: RefreshPlan,
    attempt: Attempt,
) -> Staged:
    """Run the plan's steps; nothing of it touches the view."""
    session = isolated(workspace.spark)
    tables = stored_tables(workspace, view)
    target = (known.record.path, known.latest) if known.latest >= 0 else None
    expected = {w.source: w.rows for w in situation.windows.values()}
    try:
        return Executor(session, tables, target, expected).run(plan, attempt.checkpoint)
    except HeadwaterError:
        raise
    except Exception as error:
        attempt.checkpoint("execute")
        raise SparkFailed(f"{view.name} by {plan.technique}: {cause_of(error)}") from error


def _target(
    workspace: Workspace,
    view: CompiledView,
    known: Known,
    plan: RefreshPlan,
    frontier: Frontier,
    attempt: Attempt,
) -> Target:
    definition = workspace.definitions.views[view.name]
    sources = workspace.definitions.sources
    stamp = Stamp(
        view=view.name,
        attempt=attempt.id,
        sequence=_next_sequence(workspace, known),
        definition=definition.fingerprint,
        settings=workspace.settings_fingerprint(),
        frontier=frontier,
        technique=plan.technique,
        base=known.latest,
        compiled=compiled_text(workspace, view.name),
        statement=definition.text,
        sources={name: sources[name].text for name in view.catalog if name in sources},
    )
    return Target(
        known.record.path,
        stamp,
        definition.partitioned_by,
        definition.cluster_by,
        TABLE_PROPERTIES,
    )


def _next_sequence(workspace: Workspace, known: Known) -> int:
    """Above everything Delta remembers, even if the commit that said so has left the log."""
    last = known.stamp.sequence if known.stamp else 0
    log = workspace.log_of(known.record.name)
    return max(last, (log.transaction_version(TRANSACTION_APP) or 0) if log.exists() else 0) + 1


def _may_fall_back(situation: Situation, choice: Choice, error: HeadwaterError) -> bool:
    if isinstance(error, (RefreshFenced, RefreshCanceled)) or situation.forced is not None:
        return False
    return choice.technique is not Technique.REBUILD and situation.policy is not Policy.STRICT


# --- publish ------------------------------------------------------------------------------------


def _nothing_to_do(
    workspace: Workspace,
    known: Known,
    pins: Mapping[str, SourceVersion],
    started: datetime,
    clock: float,
    request: Request,
) -> Receipt:
    reasons = (Reason("NO_CHANGE", "no source has a new version"),)
    ran = Ran(Technique.SKIP, (), reasons)
    receipt = _receipt(new_attempt_id(), known, pins, started, clock, None, ran)
    workspace.ledger.attempts.record(receipt, request.manual)
    return receipt


def _notes(changes: Mapping[str, ChangeSet]) -> tuple[Reason, ...]:
    """What the sources' logs have to say even where it did not decide the technique."""
    kept = [c for c in changes.values() if c.kind not in {ChangeKind.REPLACE, ChangeKind.GAP}]
    return tuple(dict.fromkeys(reason for change in kept for reason in change.reasons))


def _quiet_reasons(changes: Mapping[str, ChangeSet]) -> tuple[Reason, ...]:
    moved = ", ".join(sorted(changes))
    return (Reason("NO_DATA_CHANGE", f"no commit on {moved} changed data the view uses"),)


def _receipt(
    attempt: str,
    known: Known,
    pins: Mapping[str, SourceVersion],
    started: datetime,
    clock: float,
    landed: Landed | None,
    ran: Ran,
) -> Receipt:
    sequence = known.stamp.sequence if known.stamp else 0
    return Receipt(
        attempt=attempt,
        view=known.record.name,
        technique=ran.technique,
        frontier=Frontier.of(pins),
        frontier_before=known.record.frontier,
        sequence=sequence + (landed is not None),
        table_version=landed.version if landed else known.record.table_version,
        rows_inserted=landed.rows_inserted if landed else 0,
        rows_deleted=landed.rows_deleted if landed else 0,
        started_at=started,
        seconds=time.perf_counter() - clock,
        reasons=ran.reasons,
        profile=ran.costs,
    )
