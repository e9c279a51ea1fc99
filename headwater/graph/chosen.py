"""Which views one refresh is about, and what to say of handlers whose views it left apart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from headwater.define.graph import ancestors, moved_together
from headwater.define.kind import canonical
from headwater.vocabulary.errors import HeadwaterError, UnknownName, WrongUse
from headwater.vocabulary.frontier import Frontier
from headwater.workspace.workspace import Workspace


def named_views(
    workspace: Workspace, names: Iterable[str], *, only: bool = False
) -> tuple[str, ...]:
    """The views that names stand for, each once; a handler's name stands for its views."""
    found = (view for name in names for view in _named(workspace, name, only=only))
    return tuple(dict.fromkeys(found))


def _named(workspace: Workspace, name: str, *, only: bool) -> tuple[str, ...]:
    definitions, known = workspace.definitions, canonical(name)
    if known in definitions.views:
        return (known,)
    handler = definitions.handlers.get(known)
    if handler is None:
        workspace.view(name)
        raise UnknownName(f"no view `{name}`")
    if only:
        raise WrongUse(
            f"the views of handler `{handler.display}` move with what they are computed from",
            hint="leave out --only, or name the views",
        )
    return tuple(view for view in handler.views if view in definitions.views)


def chosen_views(
    workspace: Workspace, asked: Collection[str], *, only: bool, alone: bool
) -> frozenset[str]:
    """All views that are to move; `only` leaves out their ancestors, `alone` their handlers."""
    if only:
        return frozenset(asked)
    if alone:
        above = (ancestors(workspace.definitions, view) for view in asked)
        return frozenset(asked).union(*above)
    return moved_together(workspace.definitions, asked)


def tell_apart(
    workspace: Workspace,
    views: Collection[str],
    before: Mapping[str, Frontier],
    failures: Mapping[str, HeadwaterError],
) -> None:
    """Add to each failure which views of the same handler have moved without the one that failed.

    Nothing is taken back: every view is exact at its own frontier, and the next refresh of any of
    them brings all to one frontier again.
    """
    told: set[int] = set()
    for handler in workspace.definitions.handlers.values():
        failed = [view for view in handler.views if view in failures]
        if not failed or not set(handler.views) & set(views):
            continue
        moved = [
            view
            for view in handler.views
            if view in before
            and view not in failures
            and workspace.frontier_of(view) != before[view]
        ]
        for error in (failures[view] for view in failed if moved):
            if id(error) not in told:
                told.add(id(error))
                error.what += (
                    f"; of handler {handler.name}, {', '.join(moved)} moved and "
                    f"{', '.join(failed)} did not: the next refresh brings them together"
                )
