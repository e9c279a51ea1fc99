"""What `apply` does."""

from __future__ import annotations

from collections.abc import Iterable

from headwater.cli.blocks import Table, table
from headwater.project.applying import Action


def plan_table(actions: Iterable[Action]) -> Table:
    """A line per action, in the order in which `apply` carries them out."""
    return table(
        "action kind name why",
        [(a.verb.value, a.kind.noun, a.name, a.why) for a in actions],
        empty="nothing to do: the views are as the project defines them",
    )


def action_line(action: Action) -> str:
    return f"{action.verb.value:<7}  {action.kind.noun} {action.name}: {action.why}"
