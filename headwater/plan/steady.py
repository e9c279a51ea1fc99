"""Whether rows are the same, to the last digit, whenever they are computed.

Who computes only a part of an operator's rows, by where their values lie, asks for them twice: in
the change, and in the state before and after it. A row whose value is another one each time, such
as a sum of doubles or the first of several equal rows, may be within the part once and beyond it
then, and would be lost or doubled without anybody noticing.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from headwater.define.lowering.expressions import function_name
from headwater.plan.rounded import Ids, decided_by_rounding, rounded_columns
from headwater.vocabulary.algebra import (
    Aggregate,
    Distinct,
    Item,
    Node,
    Opaque,
    Pivot,
    SetOperation,
    TopK,
    Window,
    used_columns,
    walk,
)

_EXACT = frozenset(
    """
    any avg bit_and bit_or bit_xor bool_and bool_or count count_if every max mean min some sum
    """.split()
)
_EXACT_PLACES = frozenset({"rank", "dense_rank", "percent_rank", "cume_dist"})


def is_steady(below: Node, order: exp.Expr, delicate: Ids) -> bool:
    """Of an operator's rows and of what they are ordered by.

    Among `delicate` columns are all floating-point ones, and those whose equal values differ.
    """
    nodes = list(walk(below))
    if any(isinstance(node, (TopK, Opaque)) for node in nodes):
        return False
    loose = frozenset(id_ for node in nodes for id_ in _loose(node, delicate))
    if decided_by_rounding(below, loose) is not None:
        return False
    return not used_columns(order) & rounded_columns(below, loose)


def _loose(node: Node, delicate: Ids) -> Iterator[str]:
    """Columns of an operator that may be made differently of the same rows."""
    if isinstance(node, Pivot):
        yield from node.ids
    elif isinstance(node, (Distinct, SetOperation)):
        yield from delicate.intersection(node.columns)
    elif isinstance(node, Aggregate):
        yield from delicate.intersection(node.columns)
        yield from (item.id for item in node.aggregates if not _is_exact(item.expression, _EXACT))
    elif isinstance(node, Window):
        yield from (item.id for item in node.items if item.id in delicate or _is_choosing(item))


def _is_choosing(item: Item) -> bool:
    """Whether it is a matter of how rows that share a place are arranged."""
    over = item.expression
    spec = over.args.get("spec") if isinstance(over, exp.Window) else None
    by_rows = spec is not None and str(spec.args.get("kind")).upper() == "ROWS"
    return by_rows or not _is_exact(over.this, _EXACT | _EXACT_PLACES)


def _is_exact(call: exp.Expr, names: frozenset[str]) -> bool:
    return function_name(call) in names
