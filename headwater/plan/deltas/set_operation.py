"""Δ(A ∖ B) = (A′ ∖ B′)|K − (A ∖ B)|K with K the rows of ΔA and ΔB; ∩ likewise, ALL or not.

Rows that neither side gained or lost stay. The code asks both sides for those of K alone; here they
are picked from the results.

View:
    SELECT g FROM r EXCEPT SELECT g FROM s
Change:
    WITH touched AS (SELECT g FROM r_changes UNION SELECT g FROM s_changes),
    new AS (SELECT g FROM r EXCEPT SELECT g FROM s),
    old AS (SELECT g FROM r_before EXCEPT SELECT g FROM s_before)
    SELECT g, 1 AS weight FROM new LEFT SEMI JOIN touched ON new.g <=> touched.g
    UNION ALL
    SELECT g, -1 AS weight FROM old LEFT SEMI JOIN touched ON old.g <=> touched.g
"""

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
