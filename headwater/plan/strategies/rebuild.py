"""rebuild: M′ = Q(S′), writing only what differs from M."""

from __future__ import annotations

from collections.abc import Iterable

from headwater.plan.consolidate import difference
from headwater.plan.layout import Layout
from headwater.plan.planning import Planning
from headwater.plan.render import listed
from headwater.plan.steps import TARGET, Overwrite, Rewrite, Write
from headwater.plan.strategies.rows import as_table_rows, patch_rows
from headwater.vocabulary.names import quoted


def overwrite_write(
    planning: Planning, layout: Layout, sql: str | None, asked: Iterable[str] = ()
) -> Write:
    """The whole content in one commit; the user's own text where no hidden column is needed.

    Sources that are `asked` first may have changed in other columns only: Q(S + 0) = M.
    """
    content = content_relation(planning, layout, sql, once=False)
    changes = tuple(planning.changes_of(source) for source in sorted(asked))
    return Overwrite("overwrite", content, layout.columns, changes)


def rewrite_write(planning: Planning, layout: Layout, sql: str | None) -> Write:
    """Netted difference between the new content and the table."""
    return rewritten(planning, layout, content_relation(planning, layout, sql, once=True))


def rewritten(planning: Planning, layout: Layout, content: str) -> Write:
    """What differs between a relation that is made once and the table."""
    shown = f"SELECT {listed(layout.columns)} FROM "
    sides = shown + quoted(content), shown + quoted(TARGET)
    differing = difference(layout.columns, *sides, planning.fragile_columns)
    rows = planning.relation("difference", differing, once=True)
    before = len(planning.derived)
    patch = patch_rows(planning, layout, rows)
    patching = tuple(planning.derived[before:])
    del planning.derived[before:]
    return Rewrite("rewrite", patch.relation, layout.columns, content, rows, patching)


def content_relation(planning: Planning, layout: Layout, sql: str | None, *, once: bool) -> str:
    """The query's result under the table's column names."""
    if sql is not None:
        return planning.relation("content", sql, once=once)
    computed = planning.relation("query", planning.new(layout.root))
    renamed = as_table_rows(layout, computed, weighted=False)
    return planning.relation("content", renamed, once=once)
