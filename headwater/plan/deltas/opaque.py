"""ΔQ = Q(S′) − Q(S): holds for any query, at the price of two evaluations.

A row that is in both results comes and goes, which sums to 0.

View:
    SELECT k, word FROM r LEFT JOIN LATERAL explode(split(w, ' ')) AS x(word)
Change:
    SELECT k, word, 1 AS weight FROM r LEFT JOIN LATERAL explode(split(w, ' ')) AS x(word)
    UNION ALL
    SELECT k, word, -1 AS weight FROM r_before LEFT JOIN LATERAL explode(split(w, ' ')) AS x(word)
"""

from __future__ import annotations

from headwater.plan.planning import Planning
from headwater.vocabulary.algebra import Node


def delta_of_opaque(planning: Planning, node: Node) -> str | None:
    """The sub-tree is recomputed; its difference flows on as a change."""
    whole = planning.difference(node.columns, planning.new(node), planning.old(node))
    return planning.relation("opaque", whole, once=True)
