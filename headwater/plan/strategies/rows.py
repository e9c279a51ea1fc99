"""delta: M′ = M + ΔQ, row by row, with exact multiplicity.

Of equal rows there are as many as came, less those that went.

View:
    SELECT g, w FROM r
Table:
    WITH signed AS (SELECT *, 1 AS weight FROM m UNION ALL SELECT g, w, weight FROM r_changes),
    netted AS (SELECT g, w, sum(weight) AS copies FROM signed GROUP BY g, w)
    SELECT g, w FROM netted LATERAL VIEW explode(array_repeat(1, int(copies))) x AS copy
"""

from __future__ import annotations

from headwater.plan.consolidate import consolidated
from headwater.plan.layout import Layout
from headwater.plan.patch import rows_patch
from headwater.plan.planning import Planning
from headwater.plan.steps import Patch, Write
from headwater.vocabulary.names import WEIGHT, quoted

_W = quoted(WEIGHT)


def as_table_rows(layout: Layout, relation: str, *, weighted: bool) -> str:
    """A relation over the root's ids under the table's column names."""
    pairs = zip(layout.root.columns, layout.columns, strict=True)
    renamed = ", ".join(f"{quoted(id_)} AS {quoted(name)}" for id_, name in pairs)
    weight = f", {_W}" if weighted else ""
    return f"SELECT {renamed}{weight} FROM {quoted(relation)}"


def rows_write(planning: Planning, layout: Layout) -> Write:
    """Signed rows of the view, netted, then merged by row."""
    change = planning.delta(layout.root)
    if change is None:
        raise ValueError("a delta needs a change")
    signed = f"({as_table_rows(layout, change, weighted=True)})"
    netted = consolidated(layout.columns, signed, planning.fragile_columns)
    rows = planning.relation("rows", netted, once=True)
    return patch_rows(planning, layout, rows)


def patch_rows(planning: Planning, layout: Layout, rows: str) -> Patch:
    """Find the stored copies of the rows that go; take out as many as the change says."""
    sql = rows_patch(layout.columns, rows, planning.fragile_columns)
    patch = planning.relation("patch", sql, once=True)
    return Patch("patch", patch, layout.columns)
