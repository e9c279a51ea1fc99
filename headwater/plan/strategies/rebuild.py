"""rebuild: M′ = Q(S′), writing only what differs from M."""

from __future__ import annotations

from headwater.plan.layout import Layout
from headwater.plan.planning import Planning
from headwater.plan.render import listed
from headwater.plan.steps import HAVE, TARGET, Overwrite, Rewrite, Write
from headwater.plan.strategies.rows import as_table_rows, merge_rows
from headwater.vocabulary.names import WEIGHT, quoted


def overwrite_write(planning: Planning, layout: Layout, sql: str | None) -> Write:
    """The whole content in one commit; the user's own text where no hidden column is needed."""
    return Overwrite("overwrite", _content(planning, layout, sql, once=False), layout.columns)


def rewrite_write(planning: Planning, layout: Layout, sql: str | None) -> Write:
    """Netted difference between the new content and the table."""
    content = _content(planning, layout, sql, once=True)
    names, weight, have = listed(layout.columns), quoted(WEIGHT), quoted(HAVE)
    one, none = "CAST(1 AS BIGINT)", "CAST(0 AS BIGINT)"
    both = (
        f"SELECT {names}, {one} AS {weight}, {none} AS {have} FROM {quoted(content)} UNION ALL "
        f"SELECT {names}, -{one} AS {weight}, {one} AS {have} FROM {quoted(TARGET)}"
    )
    counted = planning.relation(
        "difference",
        f"SELECT {names}, SUM({weight}) AS {weight}, SUM({have}) AS {have} FROM ({both}) "
        f"GROUP BY {names} HAVING SUM({weight}) <> 0",
        once=True,
    )
    rows = merge_rows(planning, layout, counted)
    return Rewrite("rewrite", rows.relation, layout.columns, content)


def _content(planning: Planning, layout: Layout, sql: str | None, *, once: bool) -> str:
    if sql is not None:
        return planning.relation("content", sql, once=once)
    computed = planning.relation("query", planning.new(layout.root))
    renamed = as_table_rows(layout, computed, weighted=False)
    return planning.relation("content", renamed, once=once)
