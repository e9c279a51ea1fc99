"""append: M′ = M ⊎ ΔQ, where ΔQ has no deletions."""

from __future__ import annotations

from headwater.plan.layout import Layout
from headwater.plan.planning import Planning
from headwater.plan.steps import Append, Write
from headwater.plan.strategies.rows import as_table_rows
from headwater.vocabulary.algebra import Filter, Project, Scan, UnionAll, walk

_ROW_BY_ROW = (Scan, Filter, Project, UnionAll)


def append_write(planning: Planning, layout: Layout) -> Write:
    """All weights are +1: every leaf only gained rows and every operator is monotone.

    Where no row can become several, nothing can explode, and the rows are written as they are made.
    """
    change = planning.delta(layout.root)
    if change is None:
        raise ValueError("an append needs a change")
    once = any(not isinstance(node, _ROW_BY_ROW) for node in walk(layout.root))
    rows = planning.relation("rows", as_table_rows(layout, change, weighted=False), once=once)
    return Append("append", rows, layout.columns)
