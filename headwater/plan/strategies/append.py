"""append: M′ = M ⊎ ΔQ, where ΔQ has no deletions."""

from __future__ import annotations

from headwater.plan.layout import Layout
from headwater.plan.planning import Planning
from headwater.plan.steps import Append, Write
from headwater.plan.strategies.rows import as_table_rows


def append_write(planning: Planning, layout: Layout) -> Write:
    """All weights are +1: every leaf only gained rows and every operator is monotone."""
    change = planning.delta(layout.root)
    if change is None:
        raise ValueError("an append needs a change")
    rows = planning.relation("rows", as_table_rows(layout, change, weighted=False), once=True)
    return Append("append", rows, layout.columns)
