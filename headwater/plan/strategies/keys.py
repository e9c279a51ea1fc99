"""rekey: M′ = M with the rows of the touched keys K replaced by Q(S′)|K.

What was there before is known from the table, so the old sources are not asked.

View:
    SELECT g, median(n) AS middle FROM r GROUP BY g
Table:
    WITH touched AS (SELECT DISTINCT g FROM r_changes)
    SELECT * FROM m LEFT ANTI JOIN touched ON m.g <=> touched.g
    UNION ALL
    SELECT g, median(n) AS middle
    FROM r LEFT SEMI JOIN touched ON r.g <=> touched.g GROUP BY g
"""

from __future__ import annotations

from headwater.plan.exact import Delicate, same
from headwater.plan.layout import Layout
from headwater.plan.patch import Keyed
from headwater.plan.planning import Planning
from headwater.plan.render import computed
from headwater.plan.restrict import restrict
from headwater.plan.shape import grouped_shape
from headwater.plan.steps import PRESENT, Write
from headwater.plan.strategies.by_key import write_by_key
from headwater.vocabulary.algebra import Item, column
from headwater.vocabulary.names import quoted

_PREFIX = "__hw_touched_"


def keys_write(planning: Planning, layout: Layout, *, whole: bool) -> Write:
    """Touched groups come from the query without HAVING; those it hides now are deleted."""
    shape = grouped_shape(layout.root)
    if shape is None or not layout.keys:
        raise ValueError("the view has no keys to recompute by")
    change = planning.delta(shape.aggregate.input)
    if change is None:
        raise ValueError("a rekey needs a change")
    pairs = list(zip(shape.aggregate.keys, layout.keys, strict=True))
    items = tuple(Item(_PREFIX + name, key.expression) for key, name in pairs)
    touched = planning.relation(
        "touched", f"SELECT DISTINCT {computed(items)} FROM {quoted(change)}", once=True
    )
    wanted = tuple((column(layout.id_of(name)), _PREFIX + name) for name in layout.keys)
    fresh = planning.new(restrict(layout.root, wanted, touched))
    state = planning.relation("state", _state(layout, touched, fresh), once=True)
    return write_by_key(planning, _replaced(layout, planning.fragile_columns), state, whole=whole)


def _replaced(layout: Layout, fragile: Delicate) -> Keyed:
    """A touched key's row is the recomputed one, if there is one."""
    fresh = {c: f"s.{quoted(c)}" for c in layout.columns}
    others = [c for c in layout.columns if c not in (layout.keys or ())]
    return Keyed(
        layout.columns,
        layout.keys or (),
        fresh,
        fresh,
        leaves=f"NOT s.{quoted(PRESENT)}",
        comes=f"s.{quoted(PRESENT)}",
        differs=f"NOT ({same(others, fragile) or 'TRUE'})",
    )


def _state(layout: Layout, touched: str, fresh: str) -> str:
    """One row per touched key: its new row, or the key alone and the word that it has none."""
    keys = layout.keys or ()
    renamed = ", ".join(
        f"{quoted(id_)} AS {quoted(name)}"
        for id_, name in zip(layout.root.columns, layout.columns, strict=True)
    )
    shown = ", ".join(
        f"k.{quoted(_PREFIX + c)} AS {quoted(c)}" if c in keys else f"n.{quoted(c)}"
        for c in layout.columns
    )
    on = " AND ".join(f"k.{quoted(_PREFIX + c)} <=> n.{quoted(c)}" for c in keys)
    return (
        f"SELECT {shown}, n.{quoted(PRESENT)} IS NOT NULL AS {quoted(PRESENT)} "
        f"FROM {quoted(touched)} k LEFT JOIN "
        f"(SELECT {renamed}, TRUE AS {quoted(PRESENT)} FROM {fresh}) n ON {on}"
    )
