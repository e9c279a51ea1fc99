"""Refresh views with all they are computed from, at one common frontier.

The versions of the base sources are fixed before anything runs. Every view of the graph moves to
exactly those, each as soon as the views it reads are there; so two paths to one source always meet
at the same version of it, and the bottom of a diamond is never a mix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter

from headwater.capture.changes import ChangeKind, capture_changes
from headwater.capture.view_log import committed_state
from headwater.define.graph import ancestors, base_sources
from headwater.define.kind import canonical
from headwater.execute.shared_changes import SharedChanges
from headwater.quiet import quiet_refresh
from headwater.request import Request
from headwater.settling import look
from headwater.vocabulary.errors import (
    AsOfBelowFrontier,
    FrontierUnsettled,
    HeadwaterError,
    UnknownName,
    WrongUse,
)
from headwater.vocabulary.frontier import Frontier, SourceVersion
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.technique import Technique
from headwater.workspace import Workspace

_ROUNDS = 5
"""How often the pins are moved up when somebody else refreshes the same graph meanwhile."""

_STOPPING_SECONDS = 0.2
"""How often running attempts are asked to stop, once the user has interrupted."""

AsOf = int | Mapping[str, int] | None
Told = Callable[[Receipt], None]


@dataclass
class Outcome:
    """Receipts and failures by view, in the order in which they came."""

    receipts: dict[str, Receipt] = field(default_factory=dict)
    failures: dict[str, HeadwaterError] = field(default_factory=dict)


def refresh_views(
    workspace: Workspace,
    names: Iterable[str],
    request: Request,
    *,
    only: bool = False,
    as_of: AsOf = None,
    told: Told = lambda _receipt: None,
) -> Outcome:
    """Refresh views and, unless `only`, their ancestors first."""
    workspace.ledger.claims.sweep(workspace.clock.now())  # of the dead, also where nothing is due
    request = replace(request, at=request.at or workspace.clock.now())  # one for all views
    wanted = tuple(dict.fromkeys(_known(workspace, name) for name in names))
    _follow_definitions(workspace, _chosen(workspace, wanted, only=only))
    chosen = _chosen(workspace, wanted, only=only)
    pins = pinned_sources(workspace, wanted, as_of)
    outcome = Outcome()
    for _ in range(_ROUNDS):
        outcome = _run(workspace, chosen, frozenset(wanted), pins, request, told)
        overtaken = _overtaken(workspace, chosen, pins) if as_of is None else {}
        if not overtaken or not _only_overtaken(outcome):
            _tidy(workspace, outcome)
            return outcome
        pins = {**pins, **overtaken}
    raise FrontierUnsettled(f"other refreshers kept moving what {', '.join(wanted)} reads")


def _chosen(workspace: Workspace, wanted: Iterable[str], *, only: bool) -> set[str]:
    if only:
        return set(wanted)
    return {*wanted, *(a for name in wanted for a in ancestors(workspace.definitions, name))}


def _follow_definitions(workspace: Workspace, views: Iterable[str]) -> None:
    """What is pinned depends on what the views' own commits say they are."""
    for view in views:
        with suppress(HeadwaterError):  # it will come again, as this view's own failure
            look(workspace, view)


def pinned_sources(
    workspace: Workspace, views: Iterable[str], as_of: AsOf
) -> dict[str, SourceVersion]:
    """One version per base source, fixed for the whole graph."""
    sources = sorted({s for v in views for s in base_sources(workspace.definitions, v)})
    asked = _asked(sources, as_of)
    return {source: current(workspace, source, asked.get(source)) for source in sources}


def current(workspace: Workspace, name: str, version: int | None = None) -> SourceVersion:
    """A table's identity and its newest version, or the one asked for."""
    log = workspace.log_of(name)
    latest = log.latest_version()
    if version is not None and version > latest:
        raise WrongUse(f"{name} has no version {version} yet; its newest is {latest}")
    return SourceVersion(log.metadata(latest).table_id, latest if version is None else version)


def view_pins(
    workspace: Workspace, view: str, sources: Mapping[str, SourceVersion]
) -> dict[str, SourceVersion]:
    """What a view reads: base sources as pinned, other views as they were last refreshed."""
    pins = {}
    for name in workspace.inputs(view):
        if workspace.is_view(name):
            record = workspace.ready_view(name)
            table_id = workspace.log_of(name).metadata().table_id
            pins[name] = SourceVersion(table_id, record.table_version or 0)
        else:
            pins[name] = sources[name]
    _refuse_mix(workspace, view, pins)
    return pins


def base_frontier(
    workspace: Workspace, pins: Mapping[str, SourceVersion]
) -> dict[str, set[SourceVersion]]:
    """Base source -> the versions of it that a view would see through all its paths."""
    found: dict[str, set[SourceVersion]] = {}
    for name, version in pins.items():
        if not workspace.is_view(name):
            found.setdefault(name, set()).add(version)
            continue
        below = base_frontier(workspace, _frontier_at(workspace, name, version.version))
        for source, versions in below.items():
            found.setdefault(source, set()).update(versions)
    return found


def _frontier_at(workspace: Workspace, view: str, version: int) -> Frontier:
    """What a view had read when it stood at a version, which need not be its newest."""
    record = workspace.view(view)
    if record.table_version == version:
        return record.frontier
    state = committed_state(workspace.log_of(view), version)
    if state is None:
        raise FrontierUnsettled(f"what {view} had read at its version {version} is not known")
    return state.frontier


def _refuse_mix(workspace: Workspace, view: str, pins: Mapping[str, SourceVersion]) -> None:
    for source, versions in base_frontier(workspace, pins).items():
        if len(versions) > 1 and _differ(workspace, source, versions):
            seen = ", ".join(str(v.version) for v in sorted(versions))
            raise FrontierUnsettled(
                f"{view} would mix versions {seen} of {source}",
                hint="refresh it with its ancestors (without --only)",
            )


def _differ(workspace: Workspace, source: str, versions: set[SourceVersion]) -> bool:
    """Whether data of the source changed between the versions."""
    first, last = min(versions), max(versions)
    if first.table_id != last.table_id:
        return True
    change = capture_changes(
        workspace.log_of(source),
        source=source,
        since=first,
        up_to=last.version,
        used_columns=None,
    )
    return change.kind is not ChangeKind.NONE


def _run(
    workspace: Workspace,
    chosen: set[str],
    wanted: frozenset[str],
    pins: Mapping[str, SourceVersion],
    request: Request,
    told: Told,
) -> Outcome:
    """Each view as soon as all it reads is done; a view whose ancestor failed is not tried."""
    graph = {view: set(workspace.inputs(view)) & chosen for view in chosen}
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    outcome = Outcome()
    running: dict[Future[Receipt], str] = {}
    shared = SharedChanges(_readers(workspace, chosen))

    def one(view: str) -> Receipt:
        asked = request if view in wanted else Request(manual=request.manual, at=request.at)
        return _refreshed(workspace, view, view_pins(workspace, view, pins), asked, shared)

    with ThreadPoolExecutor(max_workers=workspace.config.refresh_parallel) as pool:
        try:
            while sorter.is_active():
                for view in sorter.get_ready():
                    if graph[view] & outcome.failures.keys():
                        cause = outcome.failures[min(graph[view] & outcome.failures.keys())]
                        outcome.failures[view] = cause
                        sorter.done(view)
                    else:
                        running[pool.submit(one, view)] = view
                _collect(running, outcome, sorter, told)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            _stop(workspace, running)
            raise
    return outcome


def _refreshed(
    workspace: Workspace,
    view: str,
    pins: Mapping[str, SourceVersion],
    request: Request,
    shared: SharedChanges,
) -> Receipt:
    quiet = quiet_refresh(workspace, view, pins, request)
    if quiet is not None:
        return quiet
    from headwater.refresh import refresh_view  # noqa: PLC0415  (loads the planner and its parser)

    return refresh_view(workspace, view, pins, request, shared)


def _readers(workspace: Workspace, views: Iterable[str]) -> dict[str, list[str]]:
    """The queries that read each table, of the views that are refreshed together."""
    found: dict[str, list[str]] = {}
    for view in views:
        for name in workspace.inputs(view):
            found.setdefault(name, []).append(workspace.definitions.views[view].query)
    return found


def _stop(workspace: Workspace, running: Iterable[Future[Receipt]]) -> None:
    """Ask until every attempt has let go of its claim."""
    while wait(running, timeout=_STOPPING_SECONDS).not_done:
        workspace.stop()


def _collect(
    running: dict[Future[Receipt], str],
    outcome: Outcome,
    sorter: TopologicalSorter[str],
    told: Told,
) -> None:
    if not running:
        return
    for future in wait(running, return_when=FIRST_COMPLETED).done:
        view = running.pop(future)
        try:
            outcome.receipts[view] = future.result()
            told(outcome.receipts[view])
        except HeadwaterError as error:
            outcome.failures[view] = error
        sorter.done(view)


def _only_overtaken(outcome: Outcome) -> bool:
    """Whether nothing failed but that somebody else was faster."""
    return all(isinstance(error, AsOfBelowFrontier) for error in outcome.failures.values())


def _tidy(workspace: Workspace, outcome: Outcome) -> None:
    """Keep the history within its limits, whenever something was added to it in earnest."""
    if all(receipt.technique is Technique.SKIP for receipt in outcome.receipts.values()):
        return
    config, now = workspace.config, workspace.clock.now()
    attempts = workspace.ledger.attempts
    attempts.orphan_silent(now, config.claim_limit_seconds)
    attempts.trim(now, config.history_keep_days, config.history_keep_rows)


def _overtaken(
    workspace: Workspace, views: Iterable[str], pins: Mapping[str, SourceVersion]
) -> dict[str, SourceVersion]:
    """Base sources that somebody else has already moved a view of ours beyond."""
    ahead: dict[str, SourceVersion] = {}
    for view in views:
        frontier: Frontier = workspace.view(view).frontier
        for source, seen in frontier.items():
            pin = pins.get(source)
            if pin is not None and seen.table_id == pin.table_id and seen.version > pin.version:
                ahead[source] = max(seen, ahead.get(source, seen))
    return ahead


def _known(workspace: Workspace, name: str) -> str:
    if canonical(name) not in workspace.definitions.views:
        workspace.view(name)
        raise UnknownName(f"no view `{name}`")
    return canonical(name)


def _asked(sources: list[str], as_of: AsOf) -> Mapping[str, int]:
    if as_of is None:
        return {}
    if isinstance(as_of, int):
        if len(sources) != 1:
            raise WrongUse(f"several sources ({', '.join(sources)}): say AS OF for each by name")
        return {sources[0]: as_of}
    unknown = sorted(set(as_of) - set(sources))
    if unknown:
        raise WrongUse(f"AS OF names {', '.join(unknown)}, which the view does not read")
    return as_of
