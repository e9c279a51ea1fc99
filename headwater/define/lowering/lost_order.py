"""Sorted sub-queries below aggregates that take rows as they come.

    SELECT k, collect_list(v) FROM (SELECT * FROM r ORDER BY v) GROUP BY k

Nobody promises that order, but Spark mostly keeps it, and people rely on that. Rows that are looked
up by their keys come in no order at all, so such a query is kept as text.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.define.as_they_come import Doubt, doubt_of, is_sorting, outermost
from headwater.define.lowering.context import Lowering
from headwater.define.lowering.expressions import function_name
from headwater.define.lowering.refusal import NotLoweredError

_SORTING = ("order", "sort", "cluster")
_WHICHEVER = frozenset({"any_value", "collect_set"})
"""Nobody expects these to take rows in any order."""


def refuse_lost_order(context: Lowering, select: exp.Select) -> None:
    start = select.args.get("from_")
    if start is None or not _is_sorted(context, start.this):
        return
    for call in filter(_takes_as_they_come, select.find_all(exp.Func)):
        if call.find_ancestor(exp.Query) is select:
            why = f"{function_name(call)} takes rows in the order of a sub-query"
            raise NotLoweredError("SORTED_INPUT", why)


def _takes_as_they_come(call: exp.Expr) -> bool:
    whole = outermost(call)
    if _name(call) in _WHICHEVER:
        return False
    if isinstance(whole.parent, exp.Window) or doubt_of(_name(call), whole) is not Doubt.ROWS:
        return False
    return not (
        isinstance(whole.parent, exp.Func) and is_sorting(_name(whole.parent), whole.parent)
    )


def _name(call: exp.Expr) -> str:
    return function_name(call) or ""


def _is_sorted(context: Lowering, item: exp.Expr) -> bool:
    """Whether the rows of an item of FROM come in an order that somebody asked for."""
    query: exp.Expr | None = None
    if isinstance(item, exp.Subquery):
        query = item.this
    elif isinstance(item, exp.Table) and not item.args.get("db"):
        found = context.cte(item.name)
        if found is not None:
            context, query = found[1], found[0].this
    if isinstance(query, exp.Subquery):
        return _is_sorted(context, query)
    if not isinstance(query, exp.Query):
        return False
    if any(query.args.get(clause) for clause in _SORTING):
        return True
    start = query.args.get("from_")
    return start is not None and not query.args.get("group") and _is_sorted(context, start.this)
