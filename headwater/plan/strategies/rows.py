"""delta: M′ = M + ΔQ, row by row, with exact multiplicity."""

from __future__ import annotations

from headwater.plan.consolidate import consolidated
from headwater.plan.layout import Layout
from headwater.plan.planning import Planning
from headwater.plan.render import listed
from headwater.plan.steps import HAVE, TARGET, MergeRows, Write
from headwater.vocabulary.names import WEIGHT, quoted

_W = quoted(WEIGHT)
_HAVE = quoted(HAVE)


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
    rows = planning.relation("rows", consolidated(layout.columns, signed), once=True)
    return merge_rows(planning, layout, counted(planning, layout, rows))


def counted(planning: Planning, layout: Layout, rows: str) -> str:
    """How many copies of each vanishing row the table holds."""
    names = listed(layout.columns)
    same = " AND ".join(f"t.{quoted(c)} <=> r.{quoted(c)}" for c in layout.columns)
    shown = ", ".join(f"r.{quoted(c)}" for c in layout.columns)
    leaving = (
        f"SELECT {shown}, r.{_W}, COUNT(t.__hw_one) AS {_HAVE} "
        f"FROM (SELECT * FROM {quoted(rows)} WHERE {_W} < 0) r "
        f"LEFT JOIN (SELECT *, 1 AS __hw_one FROM {quoted(TARGET)}) t ON {same} "
        f"GROUP BY {shown}, r.{_W}"
    )
    coming = (
        f"SELECT {names}, {_W}, CAST(0 AS BIGINT) AS {_HAVE} FROM {quoted(rows)} WHERE {_W} > 0"
    )
    return planning.relation("counted", f"{leaving} UNION ALL {coming}", once=True)


def merge_rows(planning: Planning, layout: Layout, counted_rows: str) -> Write:
    """One deletion per vanishing row, one insertion per copy that must be there afterwards."""
    names = listed(layout.columns)
    source = quoted(counted_rows)
    drift = "raise_error('HEADWATER_DRIFT: the table lacks a row that its sources once gave it')"
    copies = (
        f"CASE WHEN {_W} > 0 THEN CAST({_W} AS INT) "
        f"WHEN {_HAVE} + {_W} < 0 THEN CAST({drift} AS INT) "
        f"ELSE CAST({_HAVE} + {_W} AS INT) END"
    )
    leaving = f"SELECT {names}, CAST(-1 AS BIGINT) AS {_W} FROM {source} WHERE {_W} < 0"
    coming = (
        f"SELECT {names}, CAST(1 AS BIGINT) AS {_W} FROM {source} "
        f"LATERAL VIEW explode(array_repeat(1, {copies})) c AS __hw_copy"
    )
    merged = planning.relation("merge_rows", f"{leaving} UNION ALL {coming}", once=True)
    return MergeRows("merge rows", merged, layout.columns)
