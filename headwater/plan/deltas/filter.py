"""Δσ(R) = σ(ΔR): a filter is linear.

What does not pass is not in the view, so nobody misses it in the change.

View:
    SELECT * FROM r WHERE n > 1
Change:
    SELECT * FROM r_changes WHERE n > 1
"""

from __future__ import annotations

from typing import cast

from headwater.plan.planning import Planning
from headwater.vocabulary.algebra import Filter, Node
from headwater.vocabulary.dialect import written as text
from headwater.vocabulary.names import quoted


def delta_of_filter(planning: Planning, node: Node) -> str | None:
    """A row that leaves the filter is a deletion, because its old image passed and is negative."""
    kept = cast("Filter", node)
    below = planning.delta(kept.input)
    if below is None:
        return None
    sql = f"SELECT * FROM {quoted(below)} AS d WHERE {text(kept.predicate)}"
    return planning.relation("filter", sql)
