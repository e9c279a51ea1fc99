"""How far the next iteration of a refresh goes, so that a long backlog is worked off in commits.

All views of a refresh step through the same pins. Each source has a window of its own, counted from
the highest version of it that one of them has read; a source with little to read is at its end
after the first step. Where one of the views would be rebuilt, one step goes all the way: the
rebuild reads the tables whole, however far it goes, and would be paid again at every step.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from headwater.capture.window import Limits, bounded_window
from headwater.config import Config
from headwater.graph.pins import Pins
from headwater.vocabulary.frontier import Frontier, SourceVersion
from headwater.workspace.workspace import Workspace

Frontiers = Mapping[str, Frontier]


def next_pins(workspace: Workspace, frontiers: Frontiers, pins: Pins) -> Pins:
    """The pins themselves, or nearer ones where more lies before them than one step should take."""
    limits, starts = limits_of(workspace.config), _starts(frontiers, pins)
    near = {
        source: _nearer(workspace, source, starts.get(source), pin, limits)
        for source, pin in pins.items()
    }
    sliced = {source for source in pins if near[source] != pins[source]}
    if not sliced or _is_rebuilt(workspace, moving(workspace, frontiers, sliced), pins):
        return pins
    return near


def limits_of(config: Config) -> Limits:
    return Limits(config.max_window_minutes, config.max_window_rows, config.max_window_bytes)


def moving(
    workspace: Workspace, views: Collection[str], sources: Collection[str]
) -> frozenset[str]:
    """Of some views, those that read one of the sources, themselves or through the others."""
    reached, fresh = set(sources), set(sources)
    while fresh:
        fresh = {v for v in views if v not in reached and reached & set(workspace.inputs(v))}
        reached |= fresh
    return frozenset(reached & set(views))


def _starts(frontiers: Frontiers, pins: Pins) -> dict[str, int]:
    """The highest version of each source that is read; not of one that a view must read anew."""
    highest: dict[str, int] = {}
    anew: set[str] = set()
    for frontier in frontiers.values():
        for source, seen in frontier.items():
            if source in pins and seen.table_id != pins[source].table_id:
                anew.add(source)
            highest[source] = max(seen.version, highest.get(source, seen.version))
    return {source: version for source, version in highest.items() if source not in anew}


def _nearer(
    workspace: Workspace, source: str, start: int | None, pin: SourceVersion, limits: Limits
) -> SourceVersion:
    if start is None or pin.version - start <= 1:
        return pin
    reached = bounded_window(workspace.log_of(source), start, pin.version, limits)
    return SourceVersion(pin.table_id, reached)


def _is_rebuilt(workspace: Workspace, views: Collection[str], pins: Pins) -> bool:
    from headwater.graph.foresight import would_be_rebuilt  # noqa: PLC0415  (loads the planner)

    return any(would_be_rebuilt(workspace, view, pins) for view in sorted(views))
