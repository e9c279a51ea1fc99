"""A lost ledger, made again from what the views' own commits say."""

from __future__ import annotations

from pathlib import Path

from headwater.capture.log import open_log
from headwater.capture.view_log import committed_state
from headwater.define.kind import canonical
from headwater.define.parse import parse
from headwater.define.statements import CreateSource, CreateView
from headwater.store.views import ViewState
from headwater.vocabulary.errors import HeadwaterError
from headwater.vocabulary.location import Location
from headwater.vocabulary.stamp import Stamp
from headwater.workspace.workspace import Workspace


def rediscover(workspace: Workspace) -> list[str]:
    """Register every view whose table lies in the warehouse; its content is not touched."""
    found = []
    for folder in sorted(Path(workspace.config.warehouse).iterdir()):
        if folder.name.startswith(".") or not (folder / "_delta_log").is_dir():
            continue
        try:
            state = committed_state(open_log(str(folder)))
        except HeadwaterError:
            continue
        if state is not None:
            _register(workspace, str(folder), state.stamp, state.version)
            found.append(state.stamp.view)
    workspace.reload()
    return found


def _register(workspace: Workspace, path: str, stamp: Stamp, version: int) -> None:
    adopt(workspace, stamp)
    workspace.ledger.views.create(
        canonical(stamp.view),
        path=path,
        fingerprint=stamp.definition,
        compiled=stamp.compiled,
        state=ViewState.READY,
        frontier=stamp.frontier,
        sequence=stamp.sequence,
        table_version=version,
    )


def adopt(workspace: Workspace, stamp: Stamp) -> None:
    """Define the view, and those of its sources that are not known, as its commit says."""
    for name, text in stamp.sources.items():
        if name not in workspace.definitions.sources:
            _store(workspace, text, stamp.places.get(name))
    _store(workspace, stamp.statement, stamp.places.get(stamp.view))


def _store(workspace: Workspace, text: str, place: Location | None) -> None:
    for statement in parse(text, start=place).statements:
        if isinstance(statement, (CreateSource, CreateView)):
            workspace.store_definition(statement.definition)
