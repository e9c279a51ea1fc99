"""Whether a view would be rebuilt on its way to some pins, told without running anything."""

from __future__ import annotations

from dataclasses import replace

from headwater.attempt.request import Request
from headwater.attempt.situation import capture, situate
from headwater.graph.pins import Pins, current
from headwater.plan.planner import choose
from headwater.plan.situation import Situation
from headwater.vocabulary.errors import HeadwaterError
from headwater.vocabulary.technique import Policy, Technique
from headwater.workspace.compiled import compiled_view
from headwater.workspace.settling import look
from headwater.workspace.workspace import Workspace


def would_be_rebuilt(workspace: Workspace, name: str, pins: Pins) -> bool:
    """Whether a view cannot, or would rather not, follow the whole way by its changes.

    What other views will have changed by then is not known; for a view that reads some, only what
    can never be followed counts. What cannot even be planned fails the same way in one step.
    """
    known, view = look(workspace, name), compiled_view(workspace, name)
    reads = {
        read: current(workspace, read) if workspace.is_view(read) else pins[read]
        for read in workspace.inputs(name)
    }
    try:
        changes = capture(workspace, view, known, reads)
        situation = situate(workspace, view, known, changes, reads, Request())
        chosen = choose(view, _with_views_changed(workspace, situation))
    except HeadwaterError:
        return True
    return chosen.technique is Technique.REBUILD


def _with_views_changed(workspace: Workspace, situation: Situation) -> Situation:
    windows = {
        name: replace(window, changed=True, before=window.after)
        if workspace.is_view(name)
        else window
        for name, window in situation.windows.items()
    }
    is_guess = any(map(workspace.is_view, windows)) and situation.policy is Policy.AUTO
    policy = Policy.INCREMENTAL if is_guess else situation.policy
    return replace(situation, windows=windows, policy=policy)
