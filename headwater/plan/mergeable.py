"""Which aggregates can be kept by adding the change of a small state.

count: the count. sum: the sum and how many values were not NULL (the sum of none is NULL). avg:
both. min and max: themselves; where the one that is stored goes, the group is recomputed. Sums of
floats are not here: their value depends on the order of addition, so they are recomputed by group.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from headwater.vocabulary.algebra import Aggregate, Item
from headwater.vocabulary.dialect import written
from headwater.vocabulary.names import HIDDEN_PREFIX

_INTEGRAL_BITS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
_DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
_EXACT_DOUBLE_BITS = 53
_MOST_DIGITS = 38
_MOST_SCALE = 6  # beyond it Spark's + may round so that the digits before the point have room
_MOST_AVERAGED_DIGITS = 20


@dataclass(frozen=True)
class AggregateTypes:
    """Spark's types of an aggregate: of its argument and of its result, as simple strings."""

    argument: str
    result: str


@dataclass(frozen=True)
class Part:
    """One additive column of a group's state."""

    column: str  # in the view's table
    kind: str  # rows | count | sum | min | max
    argument: exp.Expr | None
    expression: exp.Expr  # the aggregate that computes the state from scratch
    type: str
    aggregate: str | None = None  # the id of the user's aggregate that it equals
    companion: str | None = None  # for sums: the column that counts the values

    @property
    def is_extreme(self) -> bool:
        return self.kind in {"min", "max"}

    def at(self, column: str) -> Part:
        return replace(self, column=column)


def parts_of(
    aggregate: Aggregate, types: Mapping[str, AggregateTypes]
) -> tuple[tuple[Part, ...] | None, str]:
    """The state of all aggregates, or None and the reason why there is none."""
    count_all = exp.Count(this=exp.Star(), big_int=True)
    parts = [Part(f"{HIDDEN_PREFIX}count", "rows", None, count_all, "bigint")]
    for number, item in enumerate(aggregate.aggregates, 1):
        if item.id not in types:
            return None, f"UNTYPED: {written(item.expression)}"
        found, why = _parts(item, number, types[item.id])
        if found is None:
            return None, why
        parts.extend(found)
    return tuple(parts), ""


def _parts(item: Item, number: int, types: AggregateTypes) -> tuple[list[Part] | None, str]:
    call = item.expression
    if isinstance(call, exp.Count) and isinstance(call.this, exp.Star):
        column = f"{HIDDEN_PREFIX}rows_{number}"
        return [Part(column, "rows", None, call, "bigint", item.id)], ""
    if call.args.get("expressions") or isinstance(call.this, exp.Distinct):
        return None, f"NOT_MERGEABLE: {written(call)}"
    if isinstance(call, exp.Count):
        column = f"{HIDDEN_PREFIX}count_{number}"
        return [Part(column, "count", call.this, call, "bigint", item.id)], ""
    if isinstance(call, (exp.Min, exp.Max)):
        kind = "min" if isinstance(call, exp.Min) else "max"
        column = f"{HIDDEN_PREFIX}{kind}_{number}"
        return [Part(column, kind, call.this, call, types.result, item.id)], ""
    if isinstance(call, (exp.Sum, exp.Avg)):
        return _sum_parts(item, number, types)
    return None, f"NOT_MERGEABLE: {written(call)}"


def _sum_parts(item: Item, number: int, types: AggregateTypes) -> tuple[list[Part] | None, str]:
    call, argument = item.expression, item.expression.this
    state = sum_type(types.argument)
    if state is None:
        return None, f"ORDER_DEPENDENT: {written(call)} adds {types.argument} values"
    if isinstance(call, exp.Avg) and average_limit(types.argument) is None:
        return None, f"ORDER_DEPENDENT: {written(call)} divides {types.argument} values"
    counted = f"{HIDDEN_PREFIX}count_{number}"
    is_sum = isinstance(call, exp.Sum)
    summed = Part(
        f"{HIDDEN_PREFIX}sum_{number}",
        "sum",
        argument,
        exp.Sum(this=argument.copy()),
        state,
        item.id if is_sum else None,
        counted,
    )
    count = Part(
        counted, "count", argument, exp.Count(this=argument.copy(), big_int=True), "bigint"
    )
    return [count, summed], ""


def sum_type(argument: str) -> str | None:
    """Spark's type of sum(argument) where addition is exact, else None."""
    if argument in _INTEGRAL_BITS:
        return "bigint"
    matched = _DECIMAL.fullmatch(argument)
    if matched is None:
        return None
    digits, scale = int(matched.group(1)) + 10, int(matched.group(2))
    if digits >= _MOST_DIGITS and scale > _MOST_SCALE:
        return None  # Spark's type of state + change would have a digit more, and so lose one
    return f"decimal({min(digits, _MOST_DIGITS)},{scale})"


def may_overflow(part: Part) -> bool:
    """Whether a sum may be too large for its type, which makes it NULL unless ANSI mode fails."""
    return part.kind == "sum" and part.type.startswith(f"decimal({_MOST_DIGITS},")


def average_limit(argument: str) -> int | None:
    """Up to how many values sum/count is exactly Spark's avg; None if never.

    Spark adds integers as doubles: exact while every partial sum is below 2^53. It rounds a decimal
    average once, we round twice; the two agree while no quotient can fall between the roundings.
    """
    bits = _INTEGRAL_BITS.get(argument)
    if bits is not None:
        return 2 ** (_EXACT_DOUBLE_BITS - bits) if bits < _EXACT_DOUBLE_BITS else None
    matched = _DECIMAL.fullmatch(argument)
    if matched and int(matched.group(1)) <= _MOST_AVERAGED_DIGITS:
        return int(10 ** (24 - int(matched.group(1))) // 4)
    return None


def average_sql(argument: str, result: str, total: str, count: str) -> str:
    """avg as Spark types it, from a sum and a count that is not zero."""
    if argument in _INTEGRAL_BITS:
        return f"CAST({total} AS DOUBLE) / CAST({count} AS DOUBLE)"
    return f"CAST({total} / CAST({count} AS DECIMAL(20,0)) AS {result})"
