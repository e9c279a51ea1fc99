"""Δδ(R) = δ(R′)|K − δ(R)|K with K the rows of ΔR."""

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
