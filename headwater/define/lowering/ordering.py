"""ORDER BY, LIMIT and OFFSET. A view is a bag: without a limit its order means nothing."""

from __future__ import annotations

from sqlglot import exp

from headwater.define.lowering.attach import refuse_left
from headwater.define.lowering.context import Lowering
from headwater.define.lowering.expressions import resolve
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.scope import Scope
from headwater.define.lowering.selected import Selected
from headwater.vocabulary.algebra import Aggregate, Distinct, Filter, Node, Project, TopK, column

_SHOWN = "shown "
"""Begins what stands for a column of the result while names are looked up in the input."""


def is_limited(tree: exp.Expr) -> bool:
    return bool(tree.args.get("limit") or tree.args.get("offset"))


def sort_keys(
    context: Lowering, select: exp.Select, scope: Scope, selected: Selected
) -> list[exp.Ordered]:
    """The sort keys of a SELECT; none where nothing is limited."""
    if not is_limited(select):
        return []
    order = select.args.get("order")
    keys = order.expressions if order else []
    if _is_all(keys):
        return [ordered(keys[0], e.copy()) for e in selected.expressions]
    return [_sort_key(context, key, scope, selected) for key in keys]


def _is_all(keys: list[exp.Ordered]) -> bool:
    """ORDER BY ALL."""
    return len(keys) == 1 and isinstance(keys[0].this, exp.Var)


def _sort_key(
    context: Lowering, written: exp.Ordered, scope: Scope, selected: Selected
) -> exp.Ordered:
    by = written.this
    if isinstance(by, exp.Literal) and not by.is_string:
        return ordered(written, selected.expressions[int(by.name) - 1].copy())
    shown = dict(zip((n.lower() for n in selected.names), selected.expressions, strict=True))

    def put_aside(part: exp.Expr) -> exp.Expr:
        is_name = isinstance(part, exp.Column) and not part.table
        if is_name and part.name.lower() in shown and part.find_ancestor(exp.Query) is None:
            return exp.Var(this=f"{_SHOWN}{part.name.lower()}")
        return part

    def back(part: exp.Expr) -> exp.Expr:
        name = _shown_name(part)
        return part if name is None else exp.Paren(this=shown[name].copy())

    named = by.copy().transform(put_aside)
    if (name := _shown_name(named)) is not None:
        return ordered(written, shown[name].copy())
    return ordered(written, resolve(context, named, scope).transform(back))


def _shown_name(part: exp.Expr) -> str | None:
    is_shown = isinstance(part, exp.Var) and part.name.startswith(_SHOWN)
    return part.name.removeprefix(_SHOWN) if is_shown else None


def ordered(written: exp.Ordered, by: exp.Expr) -> exp.Ordered:
    """The same direction for another expression."""
    copied = written.copy()
    copied.set("this", by)
    return copied


def limited(select: exp.Expr, node: Node, order: list[exp.Ordered]) -> Node:
    """The first rows, if the query asks for some only."""
    if not is_limited(select):
        return node
    parts = (select.args.get("limit"), select.args.get("offset"))
    counts = [part.expression if part is not None else None for part in parts]
    if any(count is not None and count.find(exp.Column, exp.Query) for count in counts):
        raise NotLoweredError("LIMIT", "a LIMIT that is not a constant")
    limit, offset = counts
    if isinstance(offset, exp.Literal) and not offset.is_string and offset.name == "0":
        offset = None
    if limit is None and offset is None:
        return node
    if offset is None and _is_some(limit) and _is_one_row(node):
        return node
    return TopK(node, tuple(order), limit, offset)


def _is_some(limit: exp.Expr | None) -> bool:
    return isinstance(limit, exp.Literal) and limit.is_int and int(limit.name) > 0


def _is_one_row(node: Node) -> bool:
    """One group of all rows, or none of it."""
    while isinstance(node, (Project, Filter, Distinct)):
        node = node.input
    return isinstance(node, Aggregate) and not node.keys


def limited_result(context: Lowering, tree: exp.Expr, node: Node, scope: Scope) -> Node:
    """The first rows of a whole query, ordered by the columns that it shows."""
    order = tree.args.get("order")
    keys = []
    written = order.expressions if order and is_limited(tree) else []
    if _is_all(written):
        return limited(tree, node, [ordered(written[0], column(e.id)) for e in scope.star()])
    for key in written:
        by = key.this
        if isinstance(by, exp.Literal) and not by.is_string:
            keys.append(ordered(key, column(scope.star()[int(by.name) - 1].id)))
        else:
            keys.append(ordered(key, resolve(context, by, scope)))
            refuse_left(keys[-1])
    return limited(tree, node, keys)
