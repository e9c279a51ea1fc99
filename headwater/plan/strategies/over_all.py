"""rekey of windows over all rows: ω(R + ΔR) = ω(π(M) + ΔR), as M = ω(R) has every row of R.

The sources are asked for ΔR alone. Of what the windows say of all rows, what differs is written.

A sale that changes the order of two shops, of which the second is not asked for again:

    M: (a, 9, 1st), (b, 7, 2nd)    ΔR: -(b, 7) +(b, 10)    M′: (b, 10, 1st), (a, 9, 2nd)
"""

from __future__ import annotations

from headwater.plan.consolidate import consolidated
from headwater.plan.layout import Layout
from headwater.plan.planning import Planning
from headwater.plan.render import listed
from headwater.plan.stem import Known, carried, upon
from headwater.plan.steps import TARGET, Renew, Write
from headwater.plan.strategies.rebuild import rewritten
from headwater.plan.strategies.rows import as_table_rows
from headwater.vocabulary.algebra import Node
from headwater.vocabulary.names import WEIGHT, quoted

_W = quoted(WEIGHT)
_COPY = "__hw_copy"


def over_all_write(planning: Planning, layout: Layout, *, gains: bool, whole: bool) -> Write:
    """`gains`: rows only come, each once; `whole`: the table is written anew if there are any."""
    below = layout.all_rows
    change = planning.delta(below) if below is not None else None
    if below is None or change is None:
        raise ValueError("windows over all rows need a change of what they look at")
    ids = listed(below.columns)
    moved = f"SELECT {ids}, {_W} FROM {quoted(change)}"
    moved = planning.relation("moved", moved, once=True)
    rows = f"{_stored(layout, below)} UNION ALL SELECT {ids}, {_W} FROM {quoted(moved)}"
    if not gains:
        rows = _copied(ids, consolidated(below.columns, f"({rows})", planning.fragile))
    known = Known(below.columns, planning.relation("looked_at", rows))
    content = planning.new(upon(layout.root, below, known))
    shown = as_table_rows(layout, planning.relation("query", content), weighted=False)
    content = planning.relation("content", shown, once=not whole)
    if whole:
        return Renew("renew", content, layout.columns, moved)
    return rewritten(planning, layout, content)


def _stored(layout: Layout, below: Node) -> str:
    """π(M): what the windows looked at when the table was written."""
    at = carried(layout.root, below)
    names = dict(zip(layout.root.columns, layout.columns, strict=True))
    shown = ", ".join(f"{quoted(names[at[id_]])} AS {quoted(id_)}" for id_ in below.columns)
    return f"SELECT {shown}, CAST(1 AS BIGINT) AS {_W} FROM {quoted(TARGET)}"


def _copied(ids: str, netted: str) -> str:
    """Each row as often as its weight says."""
    drift = "raise_error('HEADWATER_DRIFT: the table lacks a row that its sources once gave it')"
    copies = f"array_repeat(1, CAST(IF({_W} > 0, {_W}, {drift}) AS INT))"
    return f"SELECT {ids} FROM ({netted}) AS n LATERAL VIEW explode({copies}) c AS {_COPY}"
