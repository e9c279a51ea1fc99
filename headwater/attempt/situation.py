"""What changed since a view's frontier, and all that decides which techniques are sound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from headwater.attempt.experience import experience_of
from headwater.attempt.request import Request
from headwater.capture.changes import (
    ChangeKind,
    ChangeSet,
    capture_changes,
    known_statistics,
)
from headwater.capture.state import TableStatistics
from headwater.define.graph import dependents
from headwater.execute.own_functions import own_functions
from headwater.plan.cost import Size
from headwater.plan.format import is_current
from headwater.plan.learnt import Experience
from headwater.plan.situation import Situation
from headwater.plan.strategies.inputs import SourceWindow, used_fields
from headwater.plan.view import CompiledView
from headwater.publish.publisher import Known
from headwater.vocabulary.errors import AsOfBelowFrontier
from headwater.vocabulary.frontier import SourceVersion
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.stamp import Stamp
from headwater.vocabulary.technique import Policy
from headwater.workspace.compiled import compile_definition, compiled_view
from headwater.workspace.workspace import Pending, Workspace


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
        change = capture_changes(
            workspace.log_of(source),
            source=source,
            since=since,
            up_to=pin.version,
            used_columns=used or None,
            own=workspace.is_view(source),
        )
        is_seen = view.reads(source) or change.must_rebuild
        found[source] = change if is_seen else replace(change, kind=ChangeKind.NONE)
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
    windows = {
        source: _window(source, pin, changes.get(source), _told(workspace, source, pin))
        for source, pin in pins.items()
    }
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
        followed=bool(dependents(workspace.definitions, view.name)),
        consumed=_is_consumed(workspace, view.name),
        policy=Policy.FULL if request.full else definition.policy,
        forced=request.forced,
        size=_size(workspace, known),
        experience=_experience(workspace, view.name),
        clock=workspace.clock_values(view.clocks, request.at),
        clock_before=known.record.frontier.clock,
    )


def _experience(workspace: Workspace, view: str) -> Experience:
    """With as many refreshes at the same time as there are now."""
    running = max(len(workspace.running), 1)
    return experience_of(workspace.ledger, view, workspace.config.regret, running)


def _is_consumed(workspace: Workspace, view: str) -> bool:
    return any(c.view == view for c in workspace.definitions.consumers.values())


def _size(workspace: Workspace, known: Known) -> Size:
    if known.latest < 0:
        return Size()
    told = workspace.log_of(known.record.name).statistics(known.latest)
    return Size(told.rows or 0, told.files)


def needs_compiling(changes: Mapping[str, ChangeSet], situation: Situation) -> bool:
    """Whether columns, types or the query's meaning may be other ones."""
    exchanged = {"FUNCTION_CHANGED", "SETTINGS_CHANGED"}
    return _is_lost(changes) or any(r.code in exchanged for r in situation.must_rebuild)


def _is_lost(changes: Mapping[str, ChangeSet]) -> bool:
    return any(change.kind in {ChangeKind.REPLACE, ChangeKind.GAP} for change in changes.values())


def compiled_anew(
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
    """Why the stored content may not be what the query means now."""
    stamp = known.stamp
    if stamp is None and known.record.sequence > 0:
        return (Reason("STAMP_GONE", "the view's log no longer says what its table holds"),)
    if stamp is None:
        return (Reason("FIRST_BUILD", "the view has no content yet"),)
    clock = tuple(reason for reason in view.reasons if reason.code == "CLOCK_DEPENDENT")
    return clock or _other_than(workspace, view, known, stamp)


def _other_than(
    workspace: Workspace, view: CompiledView, known: Known, stamp: Stamp
) -> tuple[Reason, ...]:
    if stamp.definition != workspace.definitions.views[view.name].fingerprint:
        return (Reason("DEFINITION_CHANGED", "the view was defined anew"),)
    if not is_current(stamp.compiled):
        return (Reason("UPKEEP_CHANGED", "an older version of Headwater stored the view"),)
    if view.functions and view.functions != _functions_now(workspace, view):
        return (Reason("FUNCTION_CHANGED", "a function of your own has another body"),)
    if stamp.settings != workspace.settings_fingerprint():
        return (Reason("SETTINGS_CHANGED", "session settings that results depend on changed"),)
    if not known.record.frontier.clock.keys() >= set(view.clocks):
        return (Reason("CLOCK_UNKNOWN", "what the clock told the view is not on record"),)
    return ()


def _told(workspace: Workspace, source: str, pin: SourceVersion) -> TableStatistics:
    """What the log tells of a source's size."""
    return known_statistics(workspace.log_of(source), pin.version) or TableStatistics(None, 0, 0)


def _window(
    source: str, pin: SourceVersion, change: ChangeSet | None, told: TableStatistics
) -> SourceWindow:
    if change is None:
        return SourceWindow(source, None, pin.version, changed=True, total_rows=told.rows)
    return SourceWindow(
        source,
        change.from_version,
        pin.version,
        changed=change.kind is not ChangeKind.NONE,
        inserts_only=change.kind is ChangeKind.APPEND and change.has_feed,
        has_feed=change.has_feed,
        rows=change.rows,
        bytes=change.bytes,
        total_rows=told.rows,
        reach=min(1.0, change.files / max(told.files, 1)),
        values=told.values,
    )


def notes(changes: Mapping[str, ChangeSet]) -> tuple[Reason, ...]:
    """What the sources' logs have to say even where it did not decide the technique."""
    kept = [c for c in changes.values() if c.kind not in {ChangeKind.REPLACE, ChangeKind.GAP}]
    return tuple(dict.fromkeys(reason for change in kept for reason in change.reasons))


def quiet_reasons(changes: Mapping[str, ChangeSet]) -> tuple[Reason, ...]:
    """Why new versions of the sources need no work."""
    moved = ", ".join(sorted(changes))
    return (Reason("NO_DATA_CHANGE", f"no commit on {moved} changed data the view uses"),)
