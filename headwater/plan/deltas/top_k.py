"""Δτ(R) = τ(R′) − τ(R): which rows are the first k is a matter of all rows.

A row that is in both results comes and goes, which sums to 0.

View:
    SELECT k, n FROM r ORDER BY n DESC, k LIMIT 2
Change:
    (SELECT k, n, 1 AS weight FROM r ORDER BY n DESC, k LIMIT 2)
    UNION ALL
    (SELECT k, n, -1 AS weight FROM r_before ORDER BY n DESC, k LIMIT 2)
"""

from __future__ import annotations

from headwater.plan.planning import Planning
from headwater.vocabulary.algebra import Node


def delta_of_top_k(planning: Planning, node: Node) -> str | None:
    """The sub-tree is recomputed; its difference flows on as a change."""
    whole = planning.difference(node.columns, planning.new(node), planning.old(node))
    return planning.relation("top_k", whole, once=True)
