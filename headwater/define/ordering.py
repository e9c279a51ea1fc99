"""What in a query depends on an order that the query does not fix.

Such a result is right in many ways: Spark may give another one tomorrow, and `verify` may find it.
Two kinds: aggregates that take rows as they come, and window functions that must choose between
rows which their ORDER BY finds equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from headwater.define.kind import canonical
from headwater.define.query_tree import offset_of, written_name

_AS_THEY_COME = frozenset(
    "any_value array_agg collect_list first first_value last last_value listagg string_agg".split()
)
_CHOOSING = frozenset(
    """
    array_agg collect_list first first_value lag last last_value lead nth_value ntile row_number
    """.split()
)
_ORDERING = frozenset("array_sort sort_array size cardinality array_size".split())
"""Around a list, these make its order meaningless."""

Keys = Mapping[str, tuple[str, ...]]
"""Table -> the columns that its definition says identify a row."""


@dataclass(frozen=True)
class OrderDependent:
    """An expression whose value is a matter of order; `ties` if only equal rows are in doubt."""

    name: str
    offset: int
    ties: bool


def order_dependent(text: str, nodes: Iterable[exp.Expr], keys: Keys) -> tuple[OrderDependent, ...]:
    """All of them, in the order of the text."""
    found = {dependent for node in nodes for dependent in _found(text, node, keys)}
    return tuple(sorted(found, key=lambda dependent: dependent.offset))


def _found(text: str, node: exp.Expr, keys: Keys) -> Iterator[OrderDependent]:
    if not isinstance(node, exp.Func) or not (name := written_name(text, node)):
        return
    over = _window(node)
    if over is None:
        if name.lower() in _AS_THEY_COME and not _is_ordered(text, node):
            yield OrderDependent(name, offset_of(node), ties=False)
    elif (name.lower() in _CHOOSING or _counts_rows(over)) and _may_tie(over, keys):
        yield OrderDependent(name, offset_of(node), ties=True)


def _window(node: exp.Expr) -> exp.Window | None:
    """The OVER of a call itself, not one that the call stands inside."""
    above = node.parent
    while isinstance(above, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)):
        above = above.parent
    return above if isinstance(above, exp.Window) else None


def _is_ordered(text: str, node: exp.Expr) -> bool:
    above = node.parent
    if isinstance(above, exp.WithinGroup) or node.find(exp.Order):
        return True
    return isinstance(above, exp.Func) and written_name(text, above).lower() in _ORDERING


def _counts_rows(over: exp.Window) -> bool:
    spec = over.args.get("spec")
    return spec is not None and str(spec.args.get("kind")).upper() == "ROWS"


def _may_tie(over: exp.Window, keys: Keys) -> bool:
    """Whether two rows may be equal in all that the window sorts and divides by."""
    order = over.args.get("order")
    if order is None:
        return True
    sorted_by = [o.this for o in order.expressions] + (over.args.get("partition_by") or [])
    names = {canonical(e.name) for e in sorted_by if isinstance(e, exp.Column)}
    select = over.find_ancestor(exp.Select)
    tables = [canonical(t.name) for t in _tables(select)] if select is not None else []
    key = keys.get(tables[0], ()) if len(tables) == 1 else ()
    return not key or not {canonical(column) for column in key} <= names


def _tables(select: exp.Select) -> list[exp.Table]:
    start = select.args.get("from_")
    if start is None or not isinstance(start.this, exp.Table) or select.args.get("joins"):
        return []
    return [start.this]
