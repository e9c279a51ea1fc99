"""What in a query depends on an order that the query does not fix.

Such a result is right in many ways: Spark may give another one tomorrow, and `verify` may find it.
Two kinds: aggregates that take rows as they come, or one of several that share a place, and window
functions that must choose between rows which their ORDER BY finds equal. Sketches, whose value is a
guess anyway, are not among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from headwater.define.as_they_come import Doubt, doubt_of, is_sorting, order_of, outermost
from headwater.define.kind import canonical
from headwater.define.query_tree import offset_of, written_name

_CHOOSING = frozenset(
    """
    array_agg collect_list first first_value lag last last_value lead nth_value ntile row_number
    """.split()
)
Keys = Mapping[str, tuple[str, ...]]
"""Table -> the columns that its definition says identify a row."""


@dataclass(frozen=True)
class OrderDependent:
    """An expression whose value is a matter of order; a window function is only where rows tie."""

    name: str
    offset: int
    doubt: Doubt
    is_window: bool


def order_dependent(text: str, nodes: Iterable[exp.Expr], keys: Keys) -> tuple[OrderDependent, ...]:
    """All of them, in the order of the text."""
    found = {dependent for node in nodes for dependent in _found(text, node, keys)}
    return tuple(sorted(found, key=lambda dependent: dependent.offset))


def _found(text: str, node: exp.Expr, keys: Keys) -> Iterator[OrderDependent]:
    if not isinstance(node, exp.Func) or not (name := written_name(text, node)):
        return
    over = _window(node)
    if over is None:
        doubt = _doubt(text, node, name.lower(), keys)
        if doubt is not None:
            yield OrderDependent(name, offset_of(node), doubt, is_window=False)
    elif (name.lower() in _CHOOSING or _counts_rows(over)) and _may_tie(over, keys):
        yield OrderDependent(name, offset_of(node), Doubt.TIES, is_window=True)


def _window(node: exp.Expr) -> exp.Window | None:
    """The OVER of a call itself, not one that the call stands inside."""
    above = outermost(node).parent
    return above if isinstance(above, exp.Window) else None


def _doubt(text: str, call: exp.Expr, name: str, keys: Keys) -> Doubt | None:
    """What is in doubt about an aggregate where it stands."""
    whole = outermost(call)
    doubt, above = doubt_of(name, whole), whole.parent
    if doubt is Doubt.ROWS:
        is_sorted = isinstance(above, exp.Func) and is_sorting(
            written_name(text, above).lower(), above
        )
        return None if is_sorted else doubt
    if doubt is Doubt.TIES:
        select = call.find_ancestor(exp.Select)
        group = select.args.get("group") if select is not None else None
        placed = [*order_of(name, whole), *(group.expressions if group is not None else ())]
        return None if _identify(placed, select, keys) else doubt
    return None


def _counts_rows(over: exp.Window) -> bool:
    spec = over.args.get("spec")
    return spec is not None and str(spec.args.get("kind")).upper() == "ROWS"


def _may_tie(over: exp.Window, keys: Keys) -> bool:
    """Whether two rows may be equal in all that the window sorts and divides by."""
    order = over.args.get("order")
    if order is None:
        return True
    sorted_by = [o.this for o in order.expressions] + (over.args.get("partition_by") or [])
    return not _identify(sorted_by, over.find_ancestor(exp.Select), keys)


def _identify(placed: list[exp.Expr], select: exp.Select | None, keys: Keys) -> bool:
    """Whether rows that are equal in all of that are one row of the SELECT's only table."""
    names = {canonical(e.name) for e in placed if isinstance(e, exp.Column)}
    tables = [canonical(t.name) for t in _tables(select)] if select is not None else []
    key = keys.get(tables[0], ()) if len(tables) == 1 else ()
    return bool(key) and {canonical(column) for column in key} <= names


def _tables(select: exp.Select) -> list[exp.Table]:
    start = select.args.get("from_")
    if start is None or not isinstance(start.this, exp.Table) or select.args.get("joins"):
        return []
    return [start.this]
