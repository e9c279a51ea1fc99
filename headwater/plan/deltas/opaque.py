"""ΔQ = Q(S′) − Q(S): holds for any query, at the price of two evaluations."""

from __future__ import annotations

from headwater.plan.planning import Planning
from headwater.vocabulary.algebra import Node


def delta_of_opaque(planning: Planning, node: Node) -> str | None:
    """The sub-tree is recomputed; its difference flows on as a change."""
    whole = planning.difference(node.columns, planning.new(node), planning.old(node))
    return planning.relation("opaque", whole, once=True)
