"""Δp(R) = p(R′)|K − p(R)|K with K the groups of ΔR: a pivot is an aggregate laid out in columns.

A group is touched if a row came to it or left it. Its old row goes and its new one comes.

View:
    SELECT * FROM (SELECT g, n, w FROM r) PIVOT (sum(n) FOR w IN ('a', 'b'))
Change:
    WITH touched AS (SELECT DISTINCT g FROM r_changes),
    new AS (SELECT g, n, w FROM r LEFT SEMI JOIN touched ON r.g <=> touched.g),
    old AS (SELECT g, n, w FROM r_before AS r LEFT SEMI JOIN touched ON r.g <=> touched.g)
    SELECT *, 1 AS weight FROM new PIVOT (sum(n) FOR w IN ('a', 'b'))
    UNION ALL
    SELECT *, -1 AS weight FROM old PIVOT (sum(n) FOR w IN ('a', 'b'))
"""

from __future__ import annotations

from typing import cast

from headwater.plan.deltas.keyed import keyed_difference, touched_keys
from headwater.plan.planning import Planning
from headwater.vocabulary.algebra import Node, Pivot, passed


def delta_of_pivot(planning: Planning, node: Node) -> str | None:
    """Without group columns there is one row, and any change touches it."""
    pivot = cast("Pivot", node)
    below = planning.delta(pivot.input)
    if below is None:
        return None
    if not pivot.groups:
        whole = planning.difference(node.columns, planning.new(node), planning.old(node))
        return planning.relation("pivot", whole)
    keys = passed(pivot.groups)
    return keyed_difference(planning, node, keys, touched_keys(planning, [(below, keys)]))
