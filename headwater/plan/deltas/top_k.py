"""Δτ(R) = τ(R′) − τ(R): which rows are the first k is a matter of all rows."""

from __future__ import annotations

from headwater.plan.planning import Planning
from headwater.vocabulary.algebra import Node


def delta_of_top_k(planning: Planning, node: Node) -> str | None:
    """The sub-tree is recomputed; its difference flows on as a change."""
    whole = planning.difference(node.columns, planning.new(node), planning.old(node))
    return planning.relation("top_k", whole, once=True)
