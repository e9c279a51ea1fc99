"""A view as its own table has it; ledger and definitions follow the table, never the reverse."""

from __future__ import annotations

from headwater.publish.publisher import Known, settle
from headwater.store.views import ViewState
from headwater.vocabulary.errors import ViewNotReady
from headwater.vocabulary.stamp import Stamp
from headwater.workspace.workspace import Workspace


def look(workspace: Workspace, name: str) -> Known:
    """What is known of a view after its log was read.

    Whoever defined it anew may have died between the commit and the ledger, or may be another
    process whose definitions are newer than those remembered here. The commit says what holds.
    """
    record = workspace.view(name)
    known = settle(workspace.ledger, record, workspace.log_of(record.name))
    if known.stamp is None or known.record.state is not ViewState.READY:
        return known
    if record.name not in workspace.pending and not _is_defined(workspace, known.stamp):
        workspace.reload()
        if not _is_defined(workspace, known.stamp):
            from headwater.workspace.recovery import adopt  # noqa: PLC0415  (rare, and it parses SQL)

            adopt(workspace, known.stamp)
    return known


def look_ready(workspace: Workspace, name: str) -> Known:
    """Likewise; refuses a view that has no content yet."""
    known = look(workspace, name)
    if known.record.state is not ViewState.READY:
        raise ViewNotReady(f"{known.record.name} is {known.record.state.value}")
    return known


def _is_defined(workspace: Workspace, stamp: Stamp) -> bool:
    known = workspace.definitions.views.get(stamp.view)
    return known is not None and known.fingerprint == stamp.definition
