"""From wanted definitions to what must be done, and doing just that."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from headwater.attempt.attempt import Attempt
from headwater.attempt.request import Request
from headwater.define.definitions import Definition, Definitions
from headwater.define.graph import dependents, levels
from headwater.define.kind import Kind
from headwater.define.parse import TYPED
from headwater.define.stored import to_json
from headwater.define.view import ViewDef
from headwater.execute.jvm import java
from headwater.graph.refreshing import refresh_views
from headwater.plan.compiled import Compilation, restore
from headwater.plan.strict import never_followed
from headwater.store.views import ViewState
from headwater.vocabulary.errors import DefinitionConflict, StrictRefused, UnknownName
from headwater.vocabulary.technique import Policy
from headwater.workspace.compiled import compile_definition
from headwater.workspace.workspace import Pending, Workspace


class Verb(StrEnum):
    """What happens to a definition."""

    CREATE = "create"
    REBUILD = "rebuild"
    ALTER = "alter"
    DROP = "drop"


@dataclass(frozen=True)
class Action:
    """One step of an apply."""

    verb: Verb
    kind: Kind
    name: str
    why: str
    definition: Definition | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "action": self.verb.value,
            "kind": self.kind.value,
            "name": self.name,
            "why": self.why,
        }


def plan_apply(wanted: Definitions, workspace: Workspace, *, drop: bool = True) -> list[Action]:
    """Compare wanted definitions with those in force; sources first, then views as they read."""
    known = workspace.definitions
    actions: list[Action] = []
    for definition in _in_order(wanted):
        action = _compared(workspace, definition, known.find(definition.kind, definition.name))
        if action is not None:
            actions.append(action)
    rebuilt = {a.name for a in actions if a.verb is Verb.REBUILD}
    actions += _dragged_along(wanted, known, actions, rebuilt)
    if drop:
        actions += _dropped(wanted, known)
    return actions


def _compared(workspace: Workspace, wanted: Definition, known: Definition | None) -> Action | None:
    kind, name = wanted.kind, wanted.name
    if known is None:
        return Action(Verb.CREATE, kind, name, "new", wanted)
    if isinstance(wanted, ViewDef) and isinstance(known, ViewDef):
        record = workspace.ledger.views.get(name)
        if wanted.fingerprint != known.fingerprint:
            return Action(Verb.REBUILD, kind, name, "its query or layout changed", wanted)
        if record is None or record.state is not ViewState.READY:
            return Action(Verb.REBUILD, kind, name, "it was never built", wanted)
    if _meaning(wanted) == _meaning(known):
        return None
    return Action(Verb.ALTER, kind, name, "other clauses changed", wanted)


def _meaning(definition: Definition) -> dict[str, Any]:
    """A definition without the places it was written at."""
    value = to_json(definition)
    return {
        key: v
        for key, v in value.items()
        if "location" not in key and key not in {"places", "text", "display"}
    }


def _dragged_along(
    wanted: Definitions, known: Definitions, actions: list[Action], rebuilt: set[str]
) -> list[Action]:
    """Views on a source that moved to another place must be built anew."""
    moved = {a.name for a in actions if a.kind is Kind.SOURCE and a.verb is Verb.ALTER}
    found = []
    for source in sorted(moved):
        if _place(wanted.sources[source]) == _place(known.sources[source]):
            continue
        for view in dependents(wanted, source):
            if view in known.views and view not in rebuilt:
                rebuilt.add(view)
                why = f"its source {source} lies elsewhere now"
                found.append(Action(Verb.REBUILD, Kind.VIEW, view, why, wanted.views[view]))
    return found


def _place(source: Any) -> tuple[str | None, str | None]:
    return source.path, source.table


def _dropped(wanted: Definitions, known: Definitions) -> list[Action]:
    """What a file or the statements table once defined and no longer does; typed ones stay."""
    gone = [
        d for d in known.all() if wanted.find(d.kind, d.name) is None and d.location.file != TYPED
    ]
    views = [d for d in gone if d.kind is Kind.VIEW]
    order = [name for level in levels(known, [v.name for v in views]) for name in level]
    views.sort(key=lambda d: -order.index(d.name))
    others = [d for d in gone if d.kind is not Kind.VIEW]
    why = "nothing defines it any more"
    return [Action(Verb.DROP, d.kind, d.name, why, d) for d in (*views, *others)]


def _in_order(definitions: Definitions) -> list[Definition]:
    ordered = [n for level in levels(definitions, definitions.views) for n in level]
    return [
        *definitions.sources.values(),
        *(definitions.views[name] for name in ordered),
        *definitions.handlers.values(),
        *definitions.consumers.values(),
    ]


def apply(
    workspace: Workspace, actions: Iterable[Action], told: Callable[[Action], None]
) -> list[Action]:
    """Carry out actions in order; stops at the first that fails, and what is done stays done."""
    done = []
    for action in actions:
        told(action)
        if action.verb is Verb.DROP:
            drop(workspace, action.kind, action.name)
        elif action.definition is not None:
            define(workspace, action.definition, rebuild=action.verb is Verb.REBUILD)
        done.append(action)
    return done


def define(workspace: Workspace, definition: Definition, *, rebuild: bool = False) -> None:
    """Put one definition in force; a view is compiled before anything is written, then built."""
    if not isinstance(definition, ViewDef):
        workspace.ledger.sources.remove(definition.name)  # what was known of its old place
        workspace.store_definition(definition)
        return
    with workspace.redefining(Pending(definition)):
        compilation = compile_definition(workspace, definition.name)
    _refuse_unfollowed(definition, compilation)
    compiled = compilation.to_json()
    record = workspace.ledger.views.get(definition.name)
    if record is None:
        workspace.store_definition(definition)
        workspace.ledger.views.create(
            definition.name,
            path=workspace.config.view_path(definition.name),
            fingerprint=definition.fingerprint,
            compiled=compiled,
        )
    elif record.state is not ViewState.READY:
        workspace.store_definition(definition)
        workspace.ledger.views.redefine(
            definition.name, fingerprint=definition.fingerprint, compiled=compiled
        )
    elif record.fingerprint == definition.fingerprint and not rebuild:
        workspace.store_definition(definition)
        return
    _build(workspace, Pending(definition, compiled))


def _refuse_unfollowed(definition: ViewDef, compilation: Compilation) -> None:
    """Under STRICT a view that every change would rebuild is no view at all."""
    if definition.policy is not Policy.STRICT:
        return
    why = never_followed(restore(definition.name, definition.query, compilation))
    if why is not None:
        raise StrictRefused(
            f"no technique follows {definition.display} incrementally: {why}",
            where=definition.query_location,
            hint="write this part otherwise, or choose another policy",
        )


def _build(workspace: Workspace, pending: Pending) -> None:
    """The first content, or that of a new definition: until its commit the old one stays."""
    ledger, name = workspace.ledger, pending.definition.name
    ledger.views.set_state(name, ViewState.BUILDING, expected=ViewState.DEFERRED)
    with workspace.redefining(pending):
        outcome = refresh_views(workspace, [name], Request(building=True))
    if outcome.failures:
        ledger.views.set_state(name, ViewState.DEFERRED, expected=ViewState.BUILDING)
        raise next(iter(outcome.failures.values()))


def drop(workspace: Workspace, kind: Kind, name: str) -> None:
    """Forget a definition; a view's table goes with it, once nobody refreshes it any more."""
    definitions = workspace.definitions
    if definitions.find(kind, name) is None:
        raise UnknownName(f"no {kind.noun} `{name}`")
    if kind in {Kind.VIEW, Kind.SOURCE}:
        readers = dependents(definitions, name)
        if readers:
            raise DefinitionConflict(
                f"{name} is read by {', '.join(readers)}", hint="drop those first"
            )
    if kind is Kind.VIEW and workspace.ledger.views.get(name) is not None:
        _drop_table(workspace, name)
    workspace.ledger.definitions.remove(kind.value, name)
    if kind is Kind.SOURCE:
        workspace.ledger.sources.remove(name)
    workspace.reload()


def _drop_table(workspace: Workspace, name: str) -> None:
    """Holding the claim keeps refreshers out; the row goes before the files do.

    The folder leaves its place in one step: of a table that is half deleted the log may be left,
    and a view that is created there again would take it for its own.
    """
    record = workspace.view(name)
    with Attempt(workspace, name, request=Request(), frontier=record.frontier) as attempt:
        attempt.checkpoint("drop")
        workspace.ledger.views.remove(name)
        if workspace.config.is_local(record.path):
            _delete(Path(record.path), attempt.id)
        else:
            _delete_remote(workspace, record.path)


def _delete(folder: Path, attempt: str) -> None:
    gone = folder.with_name(f".{folder.name}.{attempt}")  # hidden: nobody looks for views there
    with suppress(FileNotFoundError):
        folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def _delete_remote(workspace: Workspace, path: str) -> None:
    spark = workspace.spark
    location = java(spark, "org.apache.hadoop.fs.Path")(path)
    configuration = spark._jsc.hadoopConfiguration()  # noqa: SLF001
    location.getFileSystem(configuration).delete(location, True)  # noqa: FBT003
