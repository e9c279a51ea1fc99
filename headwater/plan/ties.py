"""Rows that share a place in a window get an order of their own, where anything hangs on it.

`row_number() OVER (PARTITION BY id ORDER BY day)` may take any of two rows of one day. Each choice
is right, but a refresh evaluates the query of before once more, and must meet the choice that was
stored: what it takes from a sum is then what was once added. So where a value of such a window
decides which rows there are, or is added up, its order is continued by all columns that it reads:
rows that still share a place are the same.

    SELECT region, sum(amount) FROM (
      SELECT *, row_number() OVER (PARTITION BY id ORDER BY day, amount, region) AS n FROM sales)
    WHERE n = 1 GROUP BY region

Likewise `max_by(status, day)` takes the greatest status of the last day. A value that is only shown
stays as the user wrote it: its partition or group is replaced as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import cast

from sqlglot import exp

from headwater.define.as_they_come import AS_THEY_COME
from headwater.define.lowering.expressions import function_name
from headwater.plan.rounded import Ids, decided_by_rounding, rounded_columns
from headwater.vocabulary.algebra import (
    Aggregate,
    Item,
    Join,
    Node,
    Project,
    SetOperation,
    TopK,
    Unary,
    UnionAll,
    Window,
    column,
    used_columns,
    walk,
)

_BY_PLACE = frozenset({"lag", "lead", "ntile", "row_number"})
"""What they tell depends on each row's own place, not on rows that share one."""

_FIRST = frozenset({"first", "first_value"})
_ONE_OF_SEVERAL = AS_THEY_COME.keys() | {"nth_value"}
_BY_ANOTHER = frozenset({"max_by", "min_by"})

Sorts = Callable[[str], bool]
"""Whether rows can be ordered by a column, and its values are the same each time."""


def with_ties_broken(root: Node, sorts: Sorts, followed: Node) -> Node:
    """The same tree where no choice among rows matters; the very same if none did.

    What is above the `followed` part is computed from stored rows, and keeps to their choice.
    """
    matters = {id(node) for node in _choosing(followed) if _hangs_on(root, node)}
    broken = _broken(root, matters, sorts) if matters else root
    return root if broken == root else broken


def unsettled_top(root: Node) -> TopK | None:
    """First rows below the top that may be other ones each time."""
    tops = (node for node in walk(root) if isinstance(node, TopK) and node is not _top(root))
    return next((top for top in tops if not _settles(top, top.order)), None)


def unsettled_columns(root: Node) -> Ids:
    """Columns that are still a matter of how rows that share a place are arranged."""
    return frozenset(
        item.id
        for node in walk(root)
        if isinstance(node, Window)
        for item in node.items
        if _is_choosing(item.expression) and not _is_settled(node, item.expression)
    )


def _choosing(root: Node) -> Iterator[Node]:
    top = _top(root)
    for node in walk(root):
        if node is not top and isinstance(node, TopK):
            yield node
        if isinstance(node, (Aggregate, Window)) and _chosen(node):
            yield node


def _top(root: Node) -> Node:
    """Where rows are only shown."""
    while isinstance(root, Project):
        root = root.input
    return root


def _chosen(node: Aggregate | Window) -> Ids:
    if isinstance(node, Aggregate):
        return frozenset(i.id for i in node.aggregates if _by_another(i.expression) is not None)
    return frozenset(item.id for item in node.items if _is_choosing(item.expression))


def _hangs_on(root: Node, node: Node) -> bool:
    """First rows below the top decide by themselves which rows there are."""
    if not isinstance(node, (Aggregate, Window)):
        return True
    seeds = _chosen(node)
    if decided_by_rounding(root, seeds) is not None:
        return True
    return any(
        used_columns(item.expression) & rounded_columns(above.input, seeds)
        for above in walk(root)
        if isinstance(above, Aggregate)
        for item in above.aggregates
    )


def _broken(node: Node, matters: set[int], sorts: Sorts) -> Node:
    below = [_broken(child, matters, sorts) for child in node.inputs]
    if isinstance(node, Unary):
        made: Node = replace(node, input=below[0])
    elif isinstance(node, (Join, SetOperation)):
        made = replace(node, left=below[0], right=below[1])
    elif isinstance(node, UnionAll):
        made = replace(node, branches=tuple(below))
    else:
        made = node
    if id(node) not in matters:
        return made
    if isinstance(made, TopK):
        ties = _ties(made.input, [o.this for o in made.order], sorts)
        return replace(made, order=(*made.order, *ties))
    if isinstance(made, Aggregate):
        items = tuple(Item(i.id, _by_both(i.expression, sorts)) for i in made.aggregates)
        return replace(made, aggregates=items)
    window = cast("Window", made)
    items = tuple(Item(item.id, _ordered(window, item.expression, sorts)) for item in window.items)
    return replace(window, items=items)


def _ordered(window: Window, over: exp.Expr, sorts: Sorts) -> exp.Expr:
    if not _is_choosing(over) or not _may_be_ordered(over):
        return over
    order = over.args.get("order")
    known = [o.this for o in order.expressions] if order is not None else []
    partition = over.args.get("partition_by") or []
    ties = _ties(window.input, [*known, *partition], sorts)
    if not ties:
        return over
    over = over.copy()
    kept = over.args["order"].expressions if order is not None else []
    over.set("order", exp.Order(expressions=[*kept, *ties]))
    return over


def _by_another(call: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """What `max_by` takes, and what tells of which row."""
    inner = call.this if isinstance(call, exp.Filter) else call
    if function_name(inner) not in _BY_ANOTHER or len(inner.expressions) != 2:  # noqa: PLR2004
        return None
    taken, by = inner.expressions
    return taken, by


def _by_both(call: exp.Expr, sorts: Sorts) -> exp.Expr:
    """Of several rows that share the place the least or greatest value; NULLs have no place."""
    found = _by_another(call)
    if found is None or not isinstance(found[0], exp.Column) or not sorts(found[0].name):
        return call
    taken, by = found
    inner = (call.this if isinstance(call, exp.Filter) else call).copy()
    both = exp.Anonymous(this="struct", expressions=[by.copy(), taken.copy()])
    inner.set("expressions", [taken.copy(), both])
    placed: exp.Expr = exp.Not(this=exp.Is(this=exp.Paren(this=by.copy()), expression=exp.Null()))
    if isinstance(call, exp.Filter):
        placed = exp.And(this=exp.Paren(this=call.expression.this.copy()), expression=placed)
    return exp.Filter(this=inner, expression=exp.Where(this=placed))


def _ties(below: Node, known: list[exp.Expr], sorts: Sorts) -> list[exp.Expr]:
    names = {e.name for e in known if isinstance(e, exp.Column)}
    return [
        exp.Ordered(this=column(id_), nulls_first=True)
        for id_ in below.columns
        if id_ not in names and sorts(id_)
    ]


def _is_choosing(over: exp.Expr) -> bool:
    if not isinstance(over, exp.Window):
        return False
    name = function_name(over.this) or ""
    return _by_rows(over) or name in _BY_PLACE | _ONE_OF_SEVERAL


def _may_be_ordered(over: exp.Expr) -> bool:
    """Whether rows that share a place may be told apart: in a RANGE frame they belong together."""
    name = function_name(over.this) or ""
    if _by_rows(over) or name in _BY_PLACE or (_begins(over) and _ends(over)):
        return True
    return name in _FIRST and _begins(over) and over.this.find(exp.IgnoreNulls) is None


def _by_rows(over: exp.Expr) -> bool:
    spec = over.args.get("spec")
    return spec is not None and str(spec.args.get("kind")).upper() == "ROWS"


def _begins(over: exp.Expr) -> bool:
    """Whether the frame begins with the partition."""
    spec = over.args.get("spec")
    return spec is None or _is_unbounded(spec, "start")


def _ends(over: exp.Expr) -> bool:
    """Whether the frame ends with the partition."""
    spec = over.args.get("spec")
    return over.args.get("order") is None if spec is None else _is_unbounded(spec, "end")


def _is_unbounded(spec: exp.Expr, side: str) -> bool:
    return str(spec.args.get(side) or "").upper() == "UNBOUNDED"


def _is_settled(window: Window, over: exp.Expr) -> bool:
    order = over.args.get("order")
    by = order.expressions if order is not None else []
    return _settles(window, by, over.args.get("partition_by") or [])


def _settles(node: Unary, order: Iterable[exp.Expr], partition: Iterable[exp.Expr] = ()) -> bool:
    """Whether rows that share a place are the same rows."""
    known = (*(ordered.this for ordered in order), *partition)
    return {e.name for e in known if isinstance(e, exp.Column)} >= set(node.input.columns)
