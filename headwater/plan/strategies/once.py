"""Columns that are computed once: M′ = M with the rows of changed keys replaced, and no others.

A row is known by its key and by all that is not computed once. Signed rows are netted by that; what
comes to nothing stays as it is stored, values that were computed once included:

    stored (1, 'a', 0.3)    signed -(1, 'a', ?) +(1, 'a', 0.8)    stays (1, 'a', 0.3)
    stored (2, 'b', 0.5)    signed -(2, 'b', ?) +(2, 'c', 0.1)    becomes (2, 'c', 0.1)
"""

from __future__ import annotations

from sqlglot import exp

from headwater.plan.consolidate import given_back
from headwater.plan.exact import Delicate, exact_keys, same
from headwater.plan.layout import Layout
from headwater.plan.patch import Keyed
from headwater.plan.planning import Planning
from headwater.plan.render import computed, listed
from headwater.plan.steps import PRESENT, TARGET, Write
from headwater.plan.strategies.by_key import write_by_key
from headwater.plan.strategies.rebuild import content_relation
from headwater.plan.strategies.rows import as_table_rows
from headwater.plan.view import Once
from headwater.vocabulary.algebra import Item, Project
from headwater.vocabulary.names import WEIGHT, quoted

_W = quoted(WEIGHT)
_VALUES, _WENT, _CAME = "__hw_values", "__hw_went", "__hw_came"
_TWICE = "raise_error('HEADWATER_KEY: two rows of the view have the same KEY')"


def once_delta(planning: Planning, layout: Layout, once: Once) -> Write:
    """The change of the query, netted by what is not computed once."""
    change = _change(planning, layout, once)
    if change is None:
        raise ValueError("a delta needs a change")
    signed = planning.relation("signed", as_table_rows(layout, change, weighted=True), once=True)
    return _write(planning, layout, once, f"SELECT * FROM {quoted(signed)}")


def _change(planning: Planning, layout: Layout, once: Once) -> str | None:
    """Nothing is computed for rows that go: their values are those that are stored."""
    root = layout.root
    if not isinstance(root, Project):
        return planning.delta(root)
    below = planning.delta(root.input)
    if below is None:
        return None
    ids = {layout.id_of(column) for column in once.columns}
    blank = tuple(Item(i.id, exp.null()) if i.id in ids else i for i in root.items)
    come, go = (
        f"SELECT {computed(items)}, {_W} FROM {quoted(below)} AS d WHERE {_W} {sign} 0"
        for items, sign in ((root.items, ">"), (blank, "<"))
    )
    return planning.relation("project", f"{come} UNION ALL {go}")


def once_rebuild(planning: Planning, layout: Layout, once: Once, sql: str | None) -> Write:
    """The whole query against what is stored: rows that are the same keep their values."""
    content = content_relation(planning, layout, sql, once=True)
    names = listed(layout.columns)
    return _write(
        planning,
        layout,
        once,
        f"SELECT {names}, CAST(1 AS BIGINT) AS {_W} FROM {quoted(content)} "
        f"UNION ALL SELECT {names}, CAST(-1 AS BIGINT) FROM {quoted(TARGET)}",
    )


def _write(planning: Planning, layout: Layout, once: Once, signed: str) -> Write:
    fragile = planning.fragile_columns
    rows = planning.relation("rows", _netted(layout, once, signed, fragile), once=True)
    state = planning.relation("state", _state(layout, once, rows), once=True)
    return write_by_key(planning, _keyed(layout, once, fragile), state, whole=False)


def _netted(layout: Layout, once: Once, signed: str, fragile: Delicate) -> str:
    names = _known(layout, once)
    values = f"max_by(struct({listed(once.columns)}), {_W}) AS {_VALUES}"
    return (
        f"SELECT {given_back(names, fragile)}, SUM({_W}) AS {_W}, {values} FROM ({signed}) AS s "
        f"GROUP BY {', '.join(exact_keys(names, fragile))} HAVING SUM({_W}) <> 0"
    )


def _state(layout: Layout, once: Once, rows: str) -> str:
    """One row per key that came or went: its new row, or the word that it has none."""
    of_key = f"OVER (PARTITION BY {listed(once.key)})"
    counted = (
        f"SELECT *, SUM(GREATEST(-{_W}, 0)) {of_key} AS {_WENT}, "
        f"SUM(GREATEST({_W}, 0)) {of_key} AS {_CAME} FROM {quoted(rows)}"
    )
    shown = ", ".join(
        f"{_VALUES}.{quoted(c)} AS {quoted(c)}" if c in once.columns else quoted(c)
        for c in layout.columns
    )
    present = (
        f"CASE WHEN {_CAME} > 1 OR {_WENT} > 1 THEN CAST({_TWICE} AS BOOLEAN) "
        f"ELSE {_W} > 0 END AS {quoted(PRESENT)}"
    )
    return (
        f"SELECT {shown}, {present}, {_WENT} > 0 AS {_WENT} FROM ({counted}) AS c "
        f"WHERE {_W} > 0 OR {_CAME} = 0"
    )


def _keyed(layout: Layout, once: Once, fragile: Delicate) -> Keyed:
    """A key that comes while its stored row stays is no key."""
    fresh = {c: f"s.{quoted(c)}" for c in layout.columns}
    others = [c for c in _known(layout, once) if c not in once.key]
    differs = f"NOT ({same(others, fragile) or 'TRUE'})"
    return Keyed(
        layout.columns,
        once.key,
        fresh,
        fresh,
        leaves=f"NOT s.{quoted(PRESENT)}",
        comes=f"s.{quoted(PRESENT)}",
        differs=f"CASE WHEN s.{_WENT} THEN {differs} ELSE CAST({_TWICE} AS BOOLEAN) END",
    )


def _known(layout: Layout, once: Once) -> tuple[str, ...]:
    return tuple(c for c in layout.columns if c not in once.columns)
