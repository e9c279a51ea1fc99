"""Refresh views with all they are computed from, at one common frontier.

The versions of the base sources are fixed before anything runs. Every view of the graph moves to
exactly those, each as soon as the views it reads are there; so two paths to one source always meet
at the same version of it, and the bottom of a diamond is never a mix. Views of one handler belong
to one graph. A long backlog is several such moves, each durable, to nearer versions first.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from headwater.attempt.request import Request
from headwater.graph.chosen import chosen_views, named_views, tell_apart
from headwater.graph.iteration import Graph, Outcome, Told, iterate
from headwater.graph.pins import AsOf, Pins, asked_versions, pinned_sources
from headwater.graph.windows import Frontiers, moving, next_pins
from headwater.vocabulary.errors import AsOfBelowFrontier, FrontierUnsettled, HeadwaterError
from headwater.vocabulary.frontier import SourceVersion
from headwater.vocabulary.technique import Technique
from headwater.workspace.settling import look
from headwater.workspace.workspace import Workspace

_ROUNDS = 5
"""How often the pins are moved up when somebody else refreshes the same graph meanwhile."""


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
    graph = Graph(workspace, chosen, frozenset(asked), request, told)
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


def _moved(graph: Graph, frontiers: Frontiers, pins: Pins, *, is_fixed: bool) -> Outcome:
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
        iterate(graph, _due(graph, frontiers, step, outcome, is_last=step == pins), step, outcome)
        frontiers, last = graph.frontiers(), step
        overtaken = _overtaken(frontiers, step, pins if is_fixed else None)
        if overtaken and _is_only_overtaken(outcome):
            pins = {**pins, **_further(overtaken, pins)}
            rounds += 1
        elif outcome.failures or step == pins:
            return outcome
    raise FrontierUnsettled(f"other refreshers kept moving what {', '.join(graph.asked)} reads")


def _due(
    graph: Graph, frontiers: Frontiers, step: Pins, outcome: Outcome, *, is_last: bool
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


def _tidy(workspace: Workspace, outcome: Outcome) -> None:
    """Keep the history within its limits, whenever something was added to it in earnest."""
    if all(receipt.technique is Technique.SKIP for receipt in outcome.iterations):
        return
    config, now = workspace.config, workspace.clock.now()
    attempts = workspace.ledger.attempts
    attempts.orphan_silent(now, config.claim_limit_seconds)
    attempts.trim(now, config.history_keep_days, config.history_keep_rows)
