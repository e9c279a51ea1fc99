"""Δ(A ⊎ B) = ΔA ⊎ ΔB.

Both sides' rows are in the view side by side, so the changes are too.

View:
    SELECT k, w FROM r UNION ALL SELECT n, w FROM s
Change:
    SELECT k, w, weight FROM r_changes UNION ALL SELECT n, w, weight FROM s_changes
"""

from __future__ import annotations

from typing import cast

from headwater.plan.planning import Planning
from headwater.plan.render import listed, union_text
from headwater.vocabulary.algebra import Node, UnionAll
from headwater.vocabulary.names import WEIGHT, quoted


def delta_of_union(planning: Planning, node: Node) -> str | None:
    """A branch that did not move joins in empty, so that Spark still finds the common types."""
    union = cast("UnionAll", node)
    branches = []
    for branch in union.branches:
        below = planning.delta(branch)
        if below is not None:
            branches.append(quoted(below))
        else:
            shown = f"{listed(branch.columns)}, CAST(0 AS BIGINT) AS {quoted(WEIGHT)}"
            branches.append(f"(SELECT {shown} FROM {planning.new(branch)} WHERE FALSE)")
    return planning.relation("union", union_text(union, tuple(branches), f", {quoted(WEIGHT)}"))
