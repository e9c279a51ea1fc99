"""merge where least and greatest values may go: max′ = max(max, max ΔR⁺) unless max ΔR⁻ reaches it.

The table stores each group's least and greatest values. A row that goes and had another value takes
nothing away. One that had the stored value is made up for by a row that comes and has as much. Only
the groups of which neither is true are asked for, and computed anew.

The highest price of two articles; the second one's is taken back:

    M: (1, 9) (2, 7)    ΔR: -(1, 5) +(1, 6) -(2, 7)    asked for: 2
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.plan.consolidate import consolidated
from headwater.plan.exact import Delicate, delicate, same, same_value
from headwater.plan.layout import COUNT, Groups, Layout
from headwater.plan.mergeable import AggregateTypes, Part
from headwater.plan.patch import Keyed, found_by_keys
from headwater.plan.planning import Planning
from headwater.plan.render import listed
from headwater.plan.restrict import restrict
from headwater.plan.steps import PRESENT, Write
from headwater.plan.strategies.by_key import write_by_key
from headwater.plan.strategies.groups import Values, gone, state_change, units
from headwater.vocabulary.algebra import Aggregate, column, used_columns
from headwater.vocabulary.names import WEIGHT, quoted

_PREFIX = "__hw_touched_"
_ASKED = "__hw_asked"
_DRIFT = "raise_error('HEADWATER_DRIFT: a group that should have rows has none')"


def extrema_write(
    planning: Planning, layout: Layout, types: Mapping[str, AggregateTypes], *, whole: bool
) -> Write:
    """state′ = state + change, but for groups that lose an extremum, which are computed anew."""
    groups, keys = layout.groups, layout.keys
    if groups is None or keys is None:
        raise ValueError("the view has no mergeable groups")
    extremes = tuple(part for part in groups.parts if part.is_extreme)
    unit = units(_netted(planning, groups.shape.aggregate), inserts_only=False)
    change = state_change(layout, groups, unit, extremes)
    states = planning.relation("states", change, once=True)
    found = planning.relation("found", found_by_keys(keys, states), once=True)
    asked = planning.relation("asked", _asked(keys, extremes, states, found), once=True)
    fresh = _fresh(planning, layout, asked)
    state = planning.relation("state", _state(layout, states, asked, fresh), once=True)
    keyed = _keyed(layout, groups, types, planning.fragile_columns)
    return write_by_key(planning, keyed, state, whole=whole, found=found)


def _netted(planning: Planning, aggregate: Aggregate) -> str:
    """What comes must really be there: a change may tell of rows that come and go again."""
    change = planning.delta(aggregate.input)
    if change is None:
        raise ValueError("a merge needs a change")
    read = {i for a in (*aggregate.keys, *aggregate.aggregates) for i in used_columns(a.expression)}
    columns = tuple(id_ for id_ in aggregate.input.columns if id_ in read)
    columns = columns or aggregate.input.columns[:1]
    signed = f"(SELECT {listed(columns)}, {quoted(WEIGHT)} FROM {quoted(change)})"
    return planning.relation("netted", consolidated(columns, signed, planning.fragile))


def _asked(keys: tuple[str, ...], extremes: tuple[Part, ...], states: str, found: str) -> str:
    """The keys of the groups that lose an extremum; a group that goes has none to lose."""
    shown = ", ".join(f"s.{quoted(key)} AS {quoted(_PREFIX + key)}" for key in keys)
    lost = " OR ".join(map(_lost, extremes))
    stays = f"t.{quoted(COUNT)} + s.{quoted(COUNT)} <> 0" if keys else "TRUE"
    return (
        f"SELECT {shown or f'TRUE AS {_PREFIX}'} FROM {quoted(states)} s "
        f"JOIN {quoted(found)} t ON {same(keys) or 'TRUE'} WHERE {stays} AND ({lost})"
    )


def _lost(part: Part) -> str:
    stored, coming, going = (
        f"t.{quoted(part.column)}",
        f"s.{quoted(part.column)}",
        f"s.{gone(part)}",
    )
    behind, reaches = ("<", ">=") if part.kind == "max" else (">", "<=")
    if delicate([(part.column, part.type)]):
        reaches = reaches[0]  # what is equal is not always the same, as -0.0 is not 0.0
    kept = f"{going} {behind} {stored} OR {coming} {reaches} {stored}"
    return f"{going} IS NOT NULL AND NOT coalesce({kept}, FALSE)"


def _fresh(planning: Planning, layout: Layout, asked: str) -> str:
    """The rows of the groups that are asked for, computed anew."""
    keys = layout.keys or ()
    if not keys:
        whole = planning.new(layout.root)
        return f"(SELECT n.* FROM {whole} n LEFT SEMI JOIN {quoted(asked)} ON TRUE)"
    wanted = tuple((column(layout.id_of(name)), _PREFIX + name) for name in keys)
    return planning.new(restrict(layout.root, wanted, asked))


def _state(layout: Layout, states: str, asked: str, fresh: str) -> str:
    """The change of each group's state, and its new row where that was asked for."""
    keys = layout.keys or ()
    pairs = list(zip(layout.root.columns, layout.columns, strict=True))
    renamed = ", ".join(f"{quoted(id_)} AS {_anew(n)}" for n, (id_, _) in enumerate(pairs))
    shown = ", ".join(f"n.{_anew(n)}" for n, _ in enumerate(pairs))
    of_asked = " AND ".join(f"s.{quoted(k)} <=> a.{quoted(_PREFIX + k)}" for k in keys)
    of_fresh = " AND ".join(
        f"s.{quoted(name)} <=> n.{_anew(n)}" for n, (_, name) in enumerate(pairs) if name in keys
    )
    is_asked = f"CASE WHEN a.{_ASKED} THEN coalesce(n.{PRESENT}, {_DRIFT}) ELSE FALSE END"
    return (
        f"SELECT s.*, {shown}, {is_asked} AS {_ASKED} FROM {quoted(states)} s "
        f"LEFT JOIN (SELECT *, TRUE AS {_ASKED} FROM {quoted(asked)}) a ON {of_asked or 'TRUE'} "
        f"LEFT JOIN (SELECT {renamed}, TRUE AS {PRESENT} FROM {fresh}) n ON {of_fresh or 'TRUE'}"
    )


def _keyed(
    layout: Layout, groups: Groups, types: Mapping[str, AggregateTypes], fragile: Delicate
) -> Keyed:
    values, keys = Values(groups, dict(types)), layout.keys or ()
    merged = dict(values.updates(layout))
    updated = {
        name: merged[name] if name in keys else _either(n, merged[name])
        for n, name in enumerate(layout.columns)
    }
    fragile = {**delicate((part.column, part.type) for part in groups.parts), **fragile}
    others = [name for name in layout.columns if name not in keys]
    differs = " OR ".join(
        f"NOT ({same_value(f't.{quoted(name)}', updated[name], fragile.get(name))})"
        for name in others
    )
    return Keyed(
        layout.columns,
        keys,
        updated,
        dict(values.inserts(layout)),
        leaves=f"t.{quoted(COUNT)} + s.{quoted(COUNT)} = 0" if keys else "FALSE",
        differs=differs or "TRUE",
    )


def _either(number: int, merged: str) -> str:
    return f"CASE WHEN s.{_ASKED} THEN s.{_anew(number)} ELSE {merged} END"


def _anew(number: int) -> str:
    return f"__hw_fresh_{number}"
