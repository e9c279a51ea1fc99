"""Δ(A ∖ B) = (A′ ∖ B′)|K − (A ∖ B)|K K the rows of ΔA and ΔB; ∩ likewise, ALL or not."""

from __future__ import annotations

from typing import cast

from headwater.plan.deltas.keyed import keyed_difference, touched_keys
from headwater.plan.planning import Planning
from headwater.vocabulary.algebra import Item, Node, SetOperation, column


def delta_of_set_operation(planning: Planning, node: Node) -> str | None:
    """A row's copies in the result depend on nothing but its own copies on both sides."""
    operation = cast("SetOperation", node)
    moved = []
    for side in (operation.left, operation.right):
        below = planning.delta(side)
        if below is not None:
            pairs = zip(operation.ids, side.columns, strict=True)
            moved.append((below, tuple(Item(ours, column(theirs)) for ours, theirs in pairs)))
    if not moved:
        return None
    keys = tuple(Item(id_, column(id_)) for id_ in operation.ids)
    return keyed_difference(planning, node, keys, touched_keys(planning, moved))
