"""Δγ(R) = γ(R′)|K − γ(R)|K with K the groups of ΔR: only touched groups are recomputed.

A group is touched if a row came to it or left it. Its old row goes and its new one comes.

View:
    SELECT g, sum(n) AS total FROM r GROUP BY g
Change:
    WITH touched AS (SELECT DISTINCT g FROM r_changes)
    SELECT g, sum(n) AS total, 1 AS weight
    FROM r LEFT SEMI JOIN touched ON r.g <=> touched.g GROUP BY g
    UNION ALL
    SELECT g, sum(n) AS total, -1 AS weight
    FROM r_before AS r LEFT SEMI JOIN touched ON r.g <=> touched.g GROUP BY g
"""

from __future__ import annotations

from typing import cast

from headwater.plan.deltas.keyed import keyed_difference, touched_keys
from headwater.plan.planning import Planning
from headwater.vocabulary.algebra import Aggregate, Item, Node, column


def delta_of_aggregate(planning: Planning, node: Node) -> str | None:
    """Without keys there is one group, and any change touches it.

    Its difference is made at once: where the value stayed the same it is known to be empty, and
    what is joined to it is not even read.
    """
    aggregate = cast("Aggregate", node)
    below = planning.delta(aggregate.input)
    if below is None:
        return None
    if not aggregate.keys:
        whole = planning.difference(node.columns, planning.new(node), planning.old(node))
        return planning.relation("aggregate", whole, once=True)
    touched = touched_keys(planning, [(below, aggregate.keys)])
    keys = tuple(Item(item.id, column(item.id)) for item in aggregate.keys)
    return keyed_difference(planning, node, keys, touched)
