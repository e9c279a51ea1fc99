"""rekey of first rows of partitions: φ(R + ΔR) = φ(φ(R) + ΔR) where no first row goes.

The table stores each partition's first rows, and what orders them. A change that lies behind them
changes nothing. A single row that comes before all of them takes their place, unasked. Only of
partitions where a first row goes, or rows share a place, are the sources asked for what follows.

The latest price of each article, where the second article's latest one is taken back:

    M: (1, mon, 5) (2, tue, 7)    ΔR: +(1, wed, 6) -(2, tue, 7)    asked for: 2
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from headwater.plan.consolidate import difference
from headwater.plan.firsts import Firsts
from headwater.plan.layout import Layout
from headwater.plan.patch import rows_patch
from headwater.plan.planning import Planning
from headwater.plan.render import listed
from headwater.plan.restrict import Keys, Restrict, restrict
from headwater.plan.sent import send
from headwater.plan.stem import Known, carried, upon
from headwater.plan.steps import TARGET, Patch, Write
from headwater.plan.strategies.rows import as_table_rows
from headwater.plan.within import Bound, within
from headwater.vocabulary.dialect import written as text
from headwater.vocabulary.names import WEIGHT, quoted

_W = quoted(WEIGHT)
_PEERS = "__hw_peers"
_AT = "__hw_at"
_ALONE = f"{_PEERS} = 1 AND {_W} = 1"


@dataclass(frozen=True)
class _Told:
    """Something that tells a row's partition or its place in it."""

    name: str  # in relations
    computed: exp.Expr  # over the window's input
    stored: str  # over rows t of the table


@dataclass(frozen=True)
class _Names:
    partition: tuple[_Told, ...]
    order: tuple[_Told, ...]

    @property
    def keys(self) -> Keys:
        return tuple((told.computed, told.name) for told in self.partition)

    @property
    def listed_keys(self) -> str:
        return listed(tuple(told.name for told in self.partition))

    @property
    def of_one(self) -> str:
        """The condition that a row t of the table is of the partition of a row s."""
        return " AND ".join(f"({t.stored}) <=> s.{quoted(t.name)}" for t in self.partition)

    def bounds(self, relation: str) -> tuple[Bound, ...]:
        return tuple(
            Bound(f"({told.stored})", relation, quoted(told.name), TARGET)
            for told in self.partition
        )


def firsts_write(planning: Planning, layout: Layout, firsts: Firsts) -> Write:
    """Rows of the partitions whose first rows are other ones now go, and the new ones come."""
    change = planning.delta(firsts.window.input)
    if change is None:
        raise ValueError("first rows need a change")
    names = _names(layout, firsts)
    moved = planning.relation("moved", _moved(firsts, names, change), once=True)
    mine = planning.relation("mine", _mine(names, moved), once=True)
    first = planning.relation("first", _first(firsts, names, moved, mine), once=True)
    coming = _coming(planning, layout, firsts, names, first)
    going = (
        f"SELECT {listed(layout.columns)} FROM {quoted(mine)} t "
        f"LEFT SEMI JOIN {quoted(first)} s ON {names.of_one}"
    )
    fragile = planning.fragile_columns
    differing = difference(layout.columns, f"({coming})", going, fragile)
    rows = planning.relation("rows", differing, once=True)
    patch = rows_patch(layout.columns, rows, fragile, stored=mine)
    return Patch("patch", planning.relation("patch", patch, once=True), layout.columns)


def _coming(planning: Planning, layout: Layout, firsts: Firsts, names: _Names, first: str) -> str:
    """What the sources say of the partitions that are asked for, and rows that need no asking."""
    window = firsts.window
    doubtful = f" WHERE NOT ({_ALONE})" if firsts.is_all else ""
    asked = f"SELECT DISTINCT {names.listed_keys} FROM {quoted(first)}{doubtful}"
    asked = planning.relation("asked", asked, once=True)
    narrow = Restrict(restrict(window, names.keys, asked), names.keys, asked)
    fresh = planning.new(upon(layout.root, window, narrow))
    shown = [_shown(planning, layout, "asked_rows", fresh)]
    if firsts.is_all:
        alone = planning.relation("alone", _alone(firsts, first))
        winners = planning.new(upon(layout.root, window, Known(window.columns, alone)))
        shown.append(_shown(planning, layout, "winners", winners))
    return " UNION ALL ".join(shown)


def _names(layout: Layout, firsts: Firsts) -> _Names:
    """All rows are of one partition where a window has none."""
    at = carried(layout.root, firsts.window)
    names = dict(zip(layout.root.columns, layout.columns, strict=True))

    def stored(expression: exp.Expr) -> str:
        def meant(part: exp.Expr) -> exp.Expr:
            if isinstance(part, exp.Column):
                return exp.Var(this=f"t.{quoted(names[at[part.name]])}")
            return part

        return text(expression.copy().transform(meant))

    def told(hint: str, expressions: Iterable[exp.Expr]) -> tuple[_Told, ...]:
        return tuple(_Told(f"__hw_{hint}_{n}", e, stored(e)) for n, e in enumerate(expressions, 1))

    partition = firsts.partition or (exp.Literal.number(1),)
    return _Names(told("partition", partition), told("order", (k.this for k in firsts.order)))


def _moved(firsts: Firsts, names: _Names, change: str) -> str:
    ids = listed(firsts.window.input.columns)
    both = (*names.partition, *names.order)
    computed = ", ".join(f"{text(told.computed)} AS {quoted(told.name)}" for told in both)
    return f"SELECT {ids}, {computed}, {_W} FROM {quoted(change)}"


def _mine(names: _Names, moved: str) -> str:
    """The stored first rows of all partitions that rows come to or go from."""
    near = f"SELECT t.* FROM {quoted(TARGET)} t WHERE {within(names.bounds(moved))}"
    return (
        f"SELECT {send('s', moved)} t.* FROM ({near}) t "
        f"LEFT SEMI JOIN {quoted(moved)} s ON {names.of_one}"
    )


def _first(firsts: Firsts, names: _Names, moved: str, mine: str) -> str:
    """The changed rows that would be among the first, beside those that are stored."""
    keys, ids = names.listed_keys, listed(firsts.window.input.columns)
    pairs = zip(firsts.order, names.order, strict=True)
    order = ", ".join(text(_ordered(key, told.name)) for key, told in pairs)
    both = (*names.partition, *names.order)
    stored = ", ".join(f"{told.stored} AS {quoted(told.name)}" for told in both)
    nothing = ", ".join(f"NULL AS {quoted(id_)}" for id_ in firsts.window.input.columns)
    rows = (
        f"SELECT {listed(tuple(told.name for told in both))}, {_W}, {ids} FROM {quoted(moved)} "
        f"UNION ALL SELECT {stored}, NULL AS {_W}, {nothing} FROM {quoted(mine)} t"
    )
    placed = f"{firsts.place}() OVER (PARTITION BY {keys} ORDER BY {order}) AS {_AT}"
    peers = f"count(*) OVER (PARTITION BY {keys}, {_AT}) AS {_PEERS}"
    return (
        f"SELECT {keys}, {ids}, {_W}, {_PEERS} "
        f"FROM (SELECT *, {peers} FROM (SELECT *, {placed} FROM ({rows}))) "
        f"WHERE {_AT} <= {firsts.most} AND {_W} IS NOT NULL"
    )


def _ordered(key: exp.Expr, name: str) -> exp.Expr:
    """The same order by a column that holds what is ordered by."""
    ordered = key.copy()
    ordered.set("this", exp.Column(this=exp.to_identifier(name, quoted=True)))
    return ordered


def _alone(firsts: Firsts, first: str) -> str:
    """Rows that come before all others of their partition, as the window shows them."""
    places = ", ".join(f"1 AS {quoted(item.id)}" for item in firsts.window.items)
    ids = listed(firsts.window.input.columns)
    return f"SELECT {ids}, {places} FROM {quoted(first)} WHERE {_ALONE}"


def _shown(planning: Planning, layout: Layout, hint: str, content: str) -> str:
    made = planning.relation(hint, content)
    return as_table_rows(layout, made, weighted=False)
