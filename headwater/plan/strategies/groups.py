"""merge: the state of each touched group + the change of that state.

Neither the other rows of a group are asked for nor other groups. Where nothing is left, a group
goes.

View:
    SELECT g, count(*) AS n FROM r GROUP BY g
Table:
    WITH states AS (SELECT g, n FROM m UNION ALL SELECT g, weight FROM r_changes)
    SELECT g, sum(n) AS n FROM states GROUP BY g HAVING sum(n) <> 0
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from headwater.plan.layout import COUNT, Groups, Layout
from headwater.plan.mergeable import (
    AggregateTypes,
    Part,
    average_limit,
    average_sql,
    may_overflow,
)
from headwater.plan.patch import Keyed
from headwater.plan.planning import Planning
from headwater.plan.steps import Write
from headwater.plan.strategies.by_key import write_by_key
from headwater.vocabulary.algebra import Item
from headwater.vocabulary.dialect import written as text
from headwater.vocabulary.names import WEIGHT, quoted

_SIGN = "__hw_sign"


def groups_write(
    planning: Planning,
    layout: Layout,
    types: dict[str, AggregateTypes],
    *,
    inserts_only: bool,
    whole: bool,
) -> Write:
    """state′ = state + change for every touched group; a group goes when its count comes to 0."""
    groups = layout.groups
    if groups is None or layout.keys is None:
        raise ValueError("the view has no mergeable groups")
    change = planning.delta(groups.shape.aggregate.input)
    if change is None:
        raise ValueError("a merge needs a change")
    unit = units(change, inserts_only=inserts_only)
    states = planning.relation("states", state_change(layout, groups, unit), once=True)
    values = Values(groups, types)
    keyed = Keyed(
        layout.columns,
        layout.keys,
        dict(values.updates(layout)),
        dict(values.inserts(layout)),
        leaves=f"t.{quoted(COUNT)} + s.{quoted(COUNT)} = 0" if layout.keys else "FALSE",
    )
    return write_by_key(planning, keyed, states, whole=whole)


def state_change(layout: Layout, groups: Groups, unit: str, going: tuple[Part, ...] = ()) -> str:
    """Σ of signed unit rows per group; groups whose state does not move are left out.

    Of parts that are `going` it is told as well what the rows that go had.
    """
    keys = groups.shape.aggregate.keys
    shown = [
        f"{text(key.expression)} AS {quoted(name)}"
        for key, name in zip(keys, layout.keys or (), strict=True)
    ]
    shown += [f"{_signed(part)} AS {quoted(part.column)}" for part in groups.parts]
    shown += [f"{_extremum(part, '<')} AS {gone(part)}" for part in going]
    grouped = f" GROUP BY {', '.join(text(key.expression) for key in keys)}" if keys else ""
    added = [part.column for part in groups.parts if not part.is_extreme]
    moved = [f"{quoted(column)} <> 0" for column in added]
    for part in going:
        moved += [f"{quoted(part.column)} IS NOT NULL", f"{gone(part)} IS NOT NULL"]
    return (
        f"SELECT * FROM (SELECT {', '.join(shown)} FROM {unit}{grouped}) AS g "
        f"WHERE {' OR '.join(moved)}"
    )


def gone(part: Part) -> str:
    """Where a state's change tells the least or greatest value that went."""
    return quoted(f"__hw_gone_{part.column}")


def units(change: str, *, inserts_only: bool) -> str:
    """Rows of weight n as n rows of weight ±1, so that values are added, never multiplied."""
    if inserts_only:
        return f"(SELECT *, 1 AS {_SIGN} FROM {quoted(change)})"
    weight = quoted(WEIGHT)
    copies = f"array_repeat(CAST(sign({weight}) AS INT), CAST(abs({weight}) AS INT))"
    return f"(SELECT * FROM {quoted(change)} LATERAL VIEW explode({copies}) u AS {_SIGN})"


def _signed(part: Part) -> str:
    if part.kind == "rows":
        return f"CAST(COALESCE(SUM({_SIGN}), 0) AS BIGINT)"
    argument = text(part.argument) if part.argument is not None else ""
    if part.kind == "count":
        counted = f"SUM(CASE WHEN ({argument}) IS NOT NULL THEN {_SIGN} END)"
        return f"CAST(COALESCE({counted}, 0) AS BIGINT)"
    if part.kind in {"min", "max"}:
        return _extremum(part, ">")
    value = f"CAST({argument} AS BIGINT)" if part.type == "bigint" else f"({argument})"
    total = f"SUM(CASE WHEN {_SIGN} > 0 THEN {value} ELSE -{value} END)"
    if may_overflow(part):
        total = _not_lost(part, total, f"COUNT({argument}) > 0")
    return f"CAST({total} AS {part.type})"


def _extremum(part: Part, side: str) -> str:
    """Of the rows that come (>) or go (<)."""
    argument = text(part.argument) if part.argument is not None else ""
    return f"{part.kind.upper()}(CASE WHEN {_SIGN} {side} 0 THEN {argument} END)"


class Values:
    """SQL for every column of a merged or new group."""

    def __init__(self, groups: Groups, types: dict[str, AggregateTypes]) -> None:
        self.groups = groups
        self.types = types

    def updates(self, layout: Layout) -> list[tuple[str, str]]:
        return self._columns(layout, self._merged)

    def inserts(self, layout: Layout) -> list[tuple[str, str]]:
        return self._columns(layout, self._fresh)

    def _columns(self, layout: Layout, state_of: Callable[[Part], str]) -> list[tuple[str, str]]:
        states = {part.column: state_of(part) for part in self.groups.parts}
        values = dict(states)
        for name, item in self.groups.shown:
            if name not in states:
                values[name] = self._shown(layout, item, states)
        for key in layout.keys or ():
            values[key] = f"s.{quoted(key)}"
        return [(column, values[column]) for column in layout.columns]

    def _merged(self, part: Part) -> str:
        mine, change = f"t.{quoted(part.column)}", f"s.{quoted(part.column)}"
        if part.kind == "rows":
            total = f"({mine} + {change})"
            return _at_least_zero(total) if part.column == COUNT else total
        if part.kind == "count":
            return f"({mine} + {change})"
        if part.kind in {"min", "max"}:
            return f"{'least' if part.kind == 'min' else 'greatest'}({mine}, {change})"
        zero = f"CAST(0 AS {part.type})"
        if may_overflow(part):
            mine = _not_lost(part, mine, f"t.{quoted(self._count(part))} > 0")
        total = f"COALESCE({mine}, {zero}) + COALESCE({change}, {zero})"
        count = self._count(part)
        left = f"t.{quoted(count)} + s.{quoted(count)}"
        return f"(CASE WHEN {left} = 0 THEN NULL ELSE CAST({total} AS {part.type}) END)"

    def _fresh(self, part: Part) -> str:
        change = f"s.{quoted(part.column)}"
        if part.column == COUNT and self.groups.shape.aggregate.keys:
            drift = "raise_error('HEADWATER_DRIFT: the table lacks a group that it once had')"
            return f"(CASE WHEN {change} > 0 THEN {change} ELSE CAST({drift} AS BIGINT) END)"
        if part.kind == "sum":
            count = f"s.{quoted(self._count(part))}"
            return f"(CASE WHEN {count} = 0 THEN NULL ELSE {change} END)"
        return change

    def _count(self, part: Part) -> str:
        """Where the number of a sum's values is stored, after it may have been placed visibly."""
        return part.companion or COUNT

    def _shown(self, layout: Layout, item: Item, states: dict[str, str]) -> str:
        """A visible column that is computed from several states or keys."""
        meaning = {key.id: f"s.{quoted(name)}" for key, name in self._keys(layout)}
        for aggregate in self.groups.shape.aggregate.aggregates:
            meaning[aggregate.id] = self._aggregate(aggregate, states)

        def meant(part: exp.Expr) -> exp.Expr:
            if isinstance(part, exp.Column):
                return exp.Var(this=f"({meaning[part.name]})")
            return part

        return text(item.expression.copy().transform(meant))

    def _keys(self, layout: Layout) -> list[tuple[Item, str]]:
        return list(zip(self.groups.shape.aggregate.keys, layout.keys or (), strict=True))

    def _aggregate(self, item: Item, states: dict[str, str]) -> str:
        for part in self.groups.parts:
            if part.aggregate == item.id:
                return states[part.column]
        return self._average(item, states)

    def _average(self, item: Item, states: dict[str, str]) -> str:
        number = [a.id for a in self.groups.shape.aggregate.aggregates].index(item.id) + 1
        total, count = states[f"__hw_sum_{number}"], states[f"__hw_count_{number}"]
        types = self.types[item.id]
        limit = average_limit(types.argument)
        inexact = "raise_error('HEADWATER_INEXACT: too many values for an exact average')"
        return (
            f"CASE WHEN {count} = 0 THEN NULL WHEN {count} >= {limit} "
            f"THEN CAST({inexact} AS {types.result}) "
            f"ELSE {average_sql(types.argument, types.result, total, count)} END"
        )


def _not_lost(part: Part, total: str, has_values: str) -> str:
    """A sum of values that is NULL all the same has overflowed: nothing can be added to it."""
    lost = "raise_error('HEADWATER_INEXACT: a sum is too large to be kept by addition')"
    return (
        f"(CASE WHEN {total} IS NULL AND {has_values} THEN CAST({lost} AS {part.type}) "
        f"ELSE {total} END)"
    )


def _at_least_zero(count: str) -> str:
    drift = "raise_error('HEADWATER_DRIFT: a group would have fewer than no rows')"
    return f"(CASE WHEN {count} >= 0 THEN {count} ELSE CAST({drift} AS BIGINT) END)"
