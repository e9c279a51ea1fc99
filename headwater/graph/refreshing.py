"""Refresh views with all they are computed from, at one common frontier.

The versions of the base sources are fixed before anything runs. Every view of the graph moves to
exactly those, each as soon as the views it reads are there; so two paths to one source always meet
at the same version of it, and the bottom of a diamond is never a mix. Views of one handler belong
to one graph. A long backlog is several such moves, each durable, to nearer versions first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter

from headwater.attempt.quiet import quiet_refresh
from headwater.attempt.request import Request
from headwater.execute.shared_changes import SharedChanges
from headwater.graph.chosen import chosen_views, named_views, tell_apart
from headwater.graph.pins import AsOf, Pins, asked_versions, pinned_sources, view_pins
from headwater.graph.presence import Presence
from headwater.graph.windows import Frontiers, moving, next_pins
from headwater.vocabulary.errors import AsOfBelowFrontier, FrontierUnsettled, HeadwaterError
from headwater.vocabulary.frontier import SourceVersion
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.technique import Technique
from headwater.workspace.settling import look
from headwater.workspace.workspace import Workspace

_ROUNDS = 5
"""How often the pins are moved up when somebody else refreshes the same graph meanwhile."""

Told = Callable[[Receipt], None]


@dataclass
class Outcome:
    """Failures and newest receipts by view; `iterations` are all receipts as they came."""

    receipts: dict[str, Receipt] = field(default_factory=dict)
    failures: dict[str, HeadwaterError] = field(default_factory=dict)
    iterations: list[Receipt] = field(default_factory=list)

    def add(self, receipt: Receipt) -> None:
        self.receipts[receipt.view] = receipt
        self.iterations.append(receipt)

    @property
    def is_rebuilt(self) -> bool:
        return any(receipt.technique is Technique.REBUILD for receipt in self.iterations)


@dataclass(frozen=True)
class _Graph:
    """What one call refreshes: all views that move, and those that were asked for by name."""

    workspace: Workspace
    views: frozenset[str]
    asked: frozenset[str]
    request: Request
    told: Told

    def request_of(self, view: str) -> Request:
        """A technique is for the views that were named; the others take their own way."""
        request = self.request
        return request if view in self.asked else Request(manual=request.manual, at=request.at)

    def frontiers(self) -> Frontiers:
        return {view: self.workspace.frontier_of(view) for view in sorted(self.views)}

    @property
    def is_divisible(self) -> bool:
        """A build has no changes to follow; a technique that was asked for is for all of them."""
        return self.request.forced is None and not self.request.building


def refresh_views(
    workspace: Workspace,
    names: Iterable[str],
    request: Request,
    *,
    only: bool = False,
    as_of: AsOf = None,
    told: Told = lambda _receipt: None,
) -> Outcome:
    """Refresh views and, unless `only`, their ancestors first; a handler's name is its views'."""
    workspace.ledger.claims.sweep(workspace.clock.now())  # of the dead, also where nothing is due
    request = replace(request, at=request.at or workspace.clock.now())  # one for all views
    asked = named_views(workspace, names, only=only)
    alone = only or request.building
    _follow_definitions(workspace, chosen_views(workspace, asked, only=only, alone=alone))
    chosen = chosen_views(workspace, asked, only=only, alone=alone)
    graph = _Graph(workspace, chosen, frozenset(asked), request, told)
    named = asked_versions(workspace, asked, as_of)
    pins = pinned_sources(workspace, chosen, named, dictionaries=request.moves_dictionaries)
    before = graph.frontiers()
    outcome = _moved(graph, before, pins, is_fixed=as_of is not None)
    tell_apart(workspace, chosen, before, outcome.failures)
    _tidy(workspace, outcome)
    return outcome


def _follow_definitions(workspace: Workspace, views: Iterable[str]) -> None:
    """What is pinned depends on what the views' own commits say they are."""
    for view in views:
        with suppress(HeadwaterError):  # it will come again, as this view's own failure
            look(workspace, view)


# --- iterations ---------------------------------------------------------------------------------


def _moved(graph: _Graph, frontiers: Frontiers, pins: Pins, *, is_fixed: bool) -> Outcome:
    """Step by step to the pins; further, where somebody else is further, unless they are fixed."""
    outcome = Outcome()
    rounds = 0
    last: Pins = {}
    while rounds < _ROUNDS:
        step = pins
        if graph.is_divisible and not outcome.is_rebuilt:
            step = next_pins(graph.workspace, frontiers, pins)
        step = pins if step == last else step
        outcome.failures = {}
        _run(graph, _due(graph, frontiers, step, outcome, is_last=step == pins), step, outcome)
        frontiers, last = graph.frontiers(), step
        overtaken = _overtaken(frontiers, step, pins if is_fixed else None)
        if overtaken and _is_only_overtaken(outcome):
            pins = {**pins, **_further(overtaken, pins)}
            rounds += 1
        elif outcome.failures or step == pins:
            return outcome
    raise FrontierUnsettled(f"other refreshers kept moving what {', '.join(graph.asked)} reads")


def _due(
    graph: _Graph, frontiers: Frontiers, step: Pins, outcome: Outcome, *, is_last: bool
) -> frozenset[str]:
    """The views that a step moves; at the last one also those that no step has looked at yet."""
    behind = {
        source
        for frontier in frontiers.values()
        for source, seen in frontier.items()
        if source in step and step[source] != seen
    }
    touched = moving(graph.workspace, graph.views, behind)
    return touched | (graph.views - outcome.receipts.keys()) if is_last else touched


def _is_only_overtaken(outcome: Outcome) -> bool:
    """Whether nothing failed but that somebody else was faster."""
    return all(isinstance(error, AsOfBelowFrontier) for error in outcome.failures.values())


def _overtaken(frontiers: Frontiers, step: Pins, most: Pins | None) -> dict[str, SourceVersion]:
    """Base sources that somebody else has already moved a view of ours beyond, not above `most`."""
    ahead: dict[str, SourceVersion] = {}
    for frontier in frontiers.values():
        for source, seen in frontier.items():
            pin = step.get(source)
            if pin is None or seen.table_id != pin.table_id or seen.version <= pin.version:
                continue
            if most is None or seen.version <= most[source].version:
                ahead[source] = max(seen, ahead.get(source, seen))
    return ahead


def _further(overtaken: Pins, pins: Pins) -> dict[str, SourceVersion]:
    return {source: max(seen, pins[source]) for source, seen in overtaken.items()}


# --- one iteration ------------------------------------------------------------------------------


def _run(graph: _Graph, views: Collection[str], pins: Pins, outcome: Outcome) -> None:
    """Each view as soon as all it reads is done; a view whose ancestor failed is not tried."""
    workspace = graph.workspace
    reads = {view: set(workspace.inputs(view)) & set(views) for view in views}
    sorter = TopologicalSorter(reads)
    sorter.prepare()
    running: dict[Future[Receipt], str] = {}
    shared = SharedChanges(_readers(workspace, views))
    presence = Presence()

    def one(view: str) -> Receipt:
        asked = graph.request_of(view)
        with presence.at_work(view):
            return _refreshed(workspace, view, view_pins(workspace, view, pins), asked, shared)

    with ThreadPoolExecutor(max_workers=workspace.config.refresh_parallel) as pool:
        try:
            while sorter.is_active():
                for view in sorter.get_ready():
                    if reads[view] & outcome.failures.keys():
                        cause = outcome.failures[min(reads[view] & outcome.failures.keys())]
                        outcome.failures[view] = cause
                        sorter.done(view)
                    else:
                        running[pool.submit(one, view)] = view
                _collect(running, outcome, sorter, graph.told)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            presence.empty(workspace.stop)
            raise


def _refreshed(
    workspace: Workspace, view: str, pins: Pins, request: Request, shared: SharedChanges
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
            receipt = future.result()
            outcome.add(receipt)
            told(receipt)
        except HeadwaterError as error:
            outcome.failures[view] = error
        sorter.done(view)


def _tidy(workspace: Workspace, outcome: Outcome) -> None:
    """Keep the history within its limits, whenever something was added to it in earnest."""
    if all(receipt.technique is Technique.SKIP for receipt in outcome.iterations):
        return
    config, now = workspace.config, workspace.clock.now()
    attempts = workspace.ledger.attempts
    attempts.orphan_silent(now, config.claim_limit_seconds)
    attempts.trim(now, config.history_keep_days, config.history_keep_rows)
