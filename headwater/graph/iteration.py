"""One iteration of a refresh: every view of the graph to the same pins, as soon as it can go."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

from headwater.attempt.quiet import quiet_refresh
from headwater.attempt.request import Request
from headwater.execute.shared_changes import SharedChanges
from headwater.graph.pins import Pins, view_pins
from headwater.graph.precedence import followers
from headwater.graph.presence import Presence
from headwater.graph.windows import Frontiers
from headwater.vocabulary.errors import HeadwaterError, InternalError
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.technique import Technique
from headwater.workspace.workspace import Workspace

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
class Graph:
    """What one call refreshes: all views that move, and those that were asked for by name."""

    workspace: Workspace
    views: frozenset[str]
    asked: frozenset[str]
    request: Request
    told: Told

    def request_of(self, view: str) -> Request:
        """A technique is for the views that were named; the others take their own way."""
        asked = self.request
        return asked if view in self.asked else asked.of_an_ancestor()

    def frontiers(self) -> Frontiers:
        return {view: self.workspace.frontier_of(view) for view in sorted(self.views)}

    @property
    def is_divisible(self) -> bool:
        """A build has no changes to follow; a technique that was asked for is for all of them."""
        return self.request.forced is None and not self.request.building


def iterate(graph: Graph, views: Collection[str], pins: Pins, outcome: Outcome) -> None:
    """Each view as soon as all it reads is done; a view whose ancestor failed is not tried.

    Of those that could go, the ones that the longest row of others waits for go first.
    """
    workspace, at_once = graph.workspace, graph.workspace.config.refresh_parallel
    reads = {view: set(workspace.inputs(view)) & set(views) for view in views}
    sorter = TopologicalSorter(reads)
    sorter.prepare()
    after = followers(reads)
    ready: list[str] = []
    running: dict[Future[Receipt], str] = {}
    shared = SharedChanges(_readers(workspace, views))
    presence = Presence()

    def one(view: str) -> Receipt:
        asked = graph.request_of(view)
        with presence.at_work(view):
            return _refreshed(workspace, view, view_pins(workspace, view, pins), asked, shared)

    with ThreadPoolExecutor(max_workers=at_once) as pool:
        try:
            while sorter.is_active():
                for view in sorter.get_ready():
                    if reads[view] & outcome.failures.keys():
                        cause = outcome.failures[min(reads[view] & outcome.failures.keys())]
                        outcome.failures[view] = cause
                        sorter.done(view)
                    else:
                        ready.append(view)
                ready.sort(key=after.__getitem__, reverse=True)
                while ready and len(running) < at_once:
                    view = ready.pop(0)
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
        failure = _failure(view, future.exception())
        if failure is None:
            outcome.add(future.result())
            told(future.result())
        else:
            outcome.failures[view] = failure
        sorter.done(view)


def _failure(view: str, error: BaseException | None) -> HeadwaterError | None:
    """What nobody foresaw is this view's failure too; the others go on."""
    if error is None or isinstance(error, HeadwaterError):
        return error
    if not isinstance(error, Exception):
        raise error
    failure = InternalError(f"{view}: {type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure
