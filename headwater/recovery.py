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
from headwater.vocabulary.stamp import Stamp
from headwater.workspace import Workspace


def rediscover(workspace: Workspace) -> list[str]:
    """Register every view whose table lies in the warehouse; its content is not touched."""
    found = []
    for folder in sorted(Path(workspace.config.warehouse).iterdir()):
        if not (folder / "_delta_log").is_dir():
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
    for text in (*stamp.sources.values(), stamp.statement):
        for statement in parse(text, "<sql>").statements:
            if isinstance(statement, (CreateSource, CreateView)):
                workspace.store_definition(statement.definition)
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
