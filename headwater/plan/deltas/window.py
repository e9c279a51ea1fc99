"""Δω(R) = ω(R′)|K − ω(R)|K with K the partitions of ΔR, before and after images alike.

A row that moves from one partition to another touches both.

View:
    SELECT k, g, rank() OVER (PARTITION BY g ORDER BY n) AS place FROM r
Change:
    WITH touched AS (SELECT DISTINCT g FROM r_changes)
    SELECT k, g, rank() OVER (PARTITION BY g ORDER BY n) AS place, 1 AS weight
    FROM r LEFT SEMI JOIN touched ON r.g <=> touched.g
    UNION ALL
    SELECT k, g, rank() OVER (PARTITION BY g ORDER BY n) AS place, -1 AS weight
    FROM r_before AS r LEFT SEMI JOIN touched ON r.g <=> touched.g
"""

from __future__ import annotations

from typing import cast

from headwater.plan.deltas.keyed import keyed_difference, touched_keys
from headwater.plan.deltas.neighbours import neighbours_difference, suits
from headwater.plan.planning import Planning
from headwater.plan.reach import reach_of
from headwater.plan.restrict import shared_partition
from headwater.vocabulary.algebra import Item, Node, Window


def delta_of_window(planning: Planning, node: Node) -> str | None:
    """Without a partition that all functions share, the whole operator is recomputed."""
    window = cast("Window", node)
    below = planning.delta(window.input)
    if below is None:
        return None
    partition = shared_partition(window)
    if not partition:
        whole = planning.difference(node.columns, planning.new(node), planning.old(node))
        return planning.relation("window", whole)
    keys = tuple(Item(f"partition_{n}", e) for n, e in enumerate(partition, 1))
    reach = reach_of(window)
    if reach is not None and suits(planning, window, reach):
        return neighbours_difference(planning, window, keys, reach, below)
    return keyed_difference(planning, node, keys, touched_keys(planning, [(below, keys)]))
