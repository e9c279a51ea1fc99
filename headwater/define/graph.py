"""Who reads whom, as pure functions over definitions.

All names are canonical; a view's tables that nothing defines are left out, because the structure
check has already refused them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter

from headwater.define.definitions import Definitions
from headwater.define.kind import canonical

Level = tuple[str, ...]


def dependencies(definitions: Definitions, view: str) -> tuple[str, ...]:
    """The sources and views a view reads itself, in order of first use."""
    read = map(canonical, definitions.views[canonical(view)].tables)
    return tuple(dict.fromkeys(name for name in read if definitions.table(name)))


def dependents(definitions: Definitions, table: str) -> tuple[str, ...]:
    """The views that read a source or view themselves."""
    wanted = canonical(table)
    return tuple(name for name in definitions.views if wanted in dependencies(definitions, name))


def ancestors(definitions: Definitions, view: str) -> tuple[str, ...]:
    """All views a view is computed from, each after those it reads."""
    above = _reached(_views_read(definitions), canonical(view))
    return tuple(name for level in levels(definitions, above) for name in level)


def moved_together(definitions: Definitions, views: Iterable[str]) -> frozenset[str]:
    """The given views, all they are computed from, and all that share a handler with one of them.

    A handler's view that is moved for the sake of another one takes the rest of its handler along.
    """
    read = _views_read(definitions)
    shared = {view: h.views for h in definitions.handlers.values() for view in h.views}
    edges: dict[str, Iterable[str]]
    edges = {view: {*read[view], *(v for v in shared.get(view, ()) if v in read)} for view in read}
    edges[""] = {canonical(view) for view in views}
    return frozenset(_reached(edges, ""))


def base_sources(definitions: Definitions, view: str) -> tuple[str, ...]:
    """The sources at the bottom of a view, by name."""
    views = (canonical(view), *_reached(_views_read(definitions), canonical(view)))
    read = (name for each in views for name in dependencies(definitions, each))
    return tuple(sorted({name for name in read if name in definitions.sources}))


def levels(definitions: Definitions, views: Iterable[str]) -> tuple[Level, ...]:
    """The given views in steps: a view comes after all it is computed from, directly or not.

    Views of one level do not depend on each other and may be refreshed at the same time.
    """
    chosen = {canonical(view) for view in views}
    read = _views_read(definitions)
    sorter = TopologicalSorter({view: _nearest(read, view, chosen) for view in sorted(chosen)})
    sorter.prepare()
    steps: list[Level] = []
    while sorter.is_active():
        ready = sorter.get_ready()
        sorter.done(*ready)
        steps.append(tuple(sorted(ready)))
    return tuple(steps)


def find_cycles(definitions: Definitions) -> tuple[tuple[str, ...], ...]:
    """Circles of views that share no view, as `a, b, a`, each from its first-defined view."""
    read = _views_read(definitions)
    order = {name: index for index, name in enumerate(read)}
    circles: list[tuple[str, ...]] = []
    while circle := _any_cycle(read):
        first = min(range(len(circle)), key=lambda at: order[circle[at]])
        turned = (*circle[first:], *circle[:first])
        circles.append((*turned, turned[0]))
        read = {
            view: tuple(name for name in names if name not in circle)
            for view, names in read.items()
            if view not in circle
        }
    return tuple(sorted(circles, key=lambda circle: order[circle[0]]))


def _views_read(definitions: Definitions) -> dict[str, tuple[str, ...]]:
    return {
        view: tuple(n for n in dependencies(definitions, view) if n in definitions.views)
        for view in definitions.views
    }


def _reached(edges: Mapping[str, Iterable[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = list(edges.get(start, ()))
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(edges.get(name, ()))
    return reached


def _nearest(read: Mapping[str, Iterable[str]], view: str, chosen: set[str]) -> set[str]:
    """The chosen views that a view is computed from, not looking behind any of them."""
    found: set[str] = set()
    seen: set[str] = set()
    waiting = list(read[view])
    while waiting:
        name = waiting.pop()
        if name in chosen:
            found.add(name)
        elif name not in seen:
            seen.add(name)
            waiting.extend(read[name])
    return found


def _any_cycle(read: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    try:
        TopologicalSorter(read).prepare()
    except CycleError as found:
        circle: list[str] = found.args[1]
        return tuple(reversed(circle[1:]))  # graphlib lists what is read before its reader
    return ()
