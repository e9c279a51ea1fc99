"""Aggregates whose value is a matter of the order in which the rows of a group come.

Three kinds: what takes rows as they come; what chooses one of those that share a place; and
sketches, which remember something else of the same rows when they come in another order.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from sqlglot import exp

from headwater.vocabulary.dialect import written


class Doubt(Enum):
    """What of an aggregate's value nobody promises."""

    ROWS = "takes rows as they come"
    TIES = "chooses between rows that share a place"
    SKETCH = "remembers other things of the same rows in another order"


_BY_ANOTHER = frozenset({"max_by", "min_by"})
AS_THEY_COME: dict[str, Doubt] = {
    **dict.fromkeys(
        """
        any_value array_agg collect_list collect_set first first_value last last_value listagg
        string_agg
        """.split(),
        Doubt.ROWS,
    ),
    **dict.fromkeys([*_BY_ANOTHER, "mode"], Doubt.TIES),
    **dict.fromkeys(
        """
        approx_percentile approx_top_k approx_top_k_accumulate approx_top_k_combine
        histogram_numeric hll_sketch_agg hll_union_agg kll_merge_agg_bigint kll_merge_agg_double
        kll_merge_agg_float kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float
        percentile_approx theta_intersection_agg theta_sketch_agg theta_union_agg
        tuple_intersection_agg_double tuple_intersection_agg_integer tuple_sketch_agg_double
        tuple_sketch_agg_integer tuple_union_agg_double tuple_union_agg_integer
        """.split(),
        Doubt.SKETCH,
    ),
}
"""Every aggregate of which it may be said; all others give the same for the same rows."""

_SORTING = frozenset("array_size array_sort cardinality size sort_array".split())

_WRAPPERS = (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)
_ROW = frozenset({"struct", "named_struct"})


OF_ONE_ROW = "of_one_row"
"""Marks a call over a single row, which leaves nothing to choose."""


def doubt_of(name: str, call: exp.Expr) -> Doubt | None:
    """What is in doubt about one call, its FILTER and its WITHIN GROUP around it or not.

    Nothing is where the order of rows is told by the very value that is taken: whichever of several
    equal rows it is, the value is one and the same.
    """
    kind = None if call.meta.get(OF_ONE_ROW) else AS_THEY_COME.get(name)
    if kind is None or kind is Doubt.SKETCH:
        return kind
    told = order_of(name, call)
    if name == "mode":
        return None if told else kind
    taken = [_plain(argument) for argument in _arguments(_unwrapped(call)[0])[:1]]
    if not told:
        return kind
    return None if all(_is_told(value, told) for value in taken) else Doubt.TIES


def order_of(name: str, call: exp.Expr) -> list[exp.Expr]:
    """What tells which of the rows an aggregate takes, or in which order; the parts of rows too."""
    call, order = _unwrapped(call)
    arguments = [_plain(argument) for argument in _arguments(call)]
    if name in _BY_ANOTHER:
        order = order or arguments[1:2]
    elif name == "mode":
        order = order or [each for each in arguments[1:] if written(each).lower() == "true"]
    return [part for by in order for part in _parts(by)]


def is_sorting(name: str, call: exp.Expr) -> bool:
    """Whether a call makes the order of the list in it meaningless; a comparison may find ties."""
    return name in _SORTING and (name != "array_sort" or len(call.expressions) == 1)


def _is_told(value: exp.Expr, told: list[exp.Expr]) -> bool:
    return value in told or all(column in told for column in value.find_all(exp.Column))


def outermost(call: exp.Expr) -> exp.Expr:
    """A call with its FILTER, its WITHIN GROUP and its treatment of NULLs."""
    while isinstance(call.parent, _WRAPPERS):
        call = call.parent
    return call


def _unwrapped(call: exp.Expr) -> tuple[exp.Expr, list[exp.Expr]]:
    """The call itself, and what its WITHIN GROUP orders by."""
    order: list[exp.Expr] = []
    while isinstance(call, _WRAPPERS):
        if isinstance(call, exp.WithinGroup):
            order = [ordered.this for ordered in call.expression.find_all(exp.Ordered)]
        call = call.this
    return call, order


def _arguments(call: exp.Expr) -> list[exp.Expr]:
    if isinstance(call, (exp.Anonymous, exp.AnonymousAggFunc)):
        return list(call.expressions)
    return [call.this] if isinstance(call.this, exp.Expr) else []


def _plain(value: exp.Expr) -> exp.Expr:
    """Without brackets, a field's name or DISTINCT."""
    value = value.unalias().unnest()
    if isinstance(value, exp.Distinct) and len(value.expressions) == 1:
        return _plain(value.expressions[0])
    return value


def _parts(key: exp.Expr) -> Iterator[exp.Expr]:
    """A sort key, and the fields of one that is a row: equal rows have equal fields."""
    key = _plain(key)
    yield key
    is_row = isinstance(key, exp.Anonymous) and key.name.lower() in _ROW
    if is_row or isinstance(key, exp.Tuple):
        for field in key.expressions:
            yield from _parts(field)
