"""Δδ(R) = δ(R′)|K − δ(R)|K with K the rows of ΔR.

A row is touched if copies of it came or went. If it has others, it goes and comes, which sums to 0.

View:
    SELECT DISTINCT g, w FROM r
Change:
    WITH touched AS (SELECT DISTINCT g, w FROM r_changes)
    SELECT DISTINCT g, w, 1 AS weight
    FROM r LEFT SEMI JOIN touched ON r.g <=> touched.g AND r.w <=> touched.w
    UNION ALL
    SELECT DISTINCT g, w, -1 AS weight
    FROM r_before AS r LEFT SEMI JOIN touched ON r.g <=> touched.g AND r.w <=> touched.w
"""

from __future__ import annotations

from typing import cast

from headwater.plan.deltas.keyed import keyed_difference, touched_keys
from headwater.plan.planning import Planning
from headwater.vocabulary.algebra import Distinct, Item, Node, column


def delta_of_distinct(planning: Planning, node: Node) -> str | None:
    """A row appears or vanishes only if its number of copies crosses zero."""
    distinct = cast("Distinct", node)
    below = planning.delta(distinct.input)
    if below is None:
        return None
    keys = tuple(Item(id_, column(id_)) for id_ in node.columns)
    return keyed_difference(planning, node, keys, touched_keys(planning, [(below, keys)]))
