"""One SELECT: filter, group, window, project, distinct, limit, in Spark's order."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from headwater.define.lowering.context import Lowering
from headwater.define.lowering.expressions import (
    contains_aggregate,
    resolve,
)
from headwater.define.lowering.grouping import Grouping, group
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.scope import Entry, Scope
from headwater.define.lowering.tables import from_clause
from headwater.define.lowering.where import filtered
from headwater.vocabulary.algebra import (
    Distinct,
    Filter,
    Item,
    Node,
    Project,
    TopK,
    Window,
    column,
)

_UNREAD = (
    "kind",
    "hint",
    "match",
    "connect",
    "prewhere",
    "cluster",
    "distribute",
    "sort",
    "into",
    "locks",
    "sample",
    "settings",
    "format",
    "options",
    "windows",
)


@dataclass
class Selected:
    """The select list while it is resolved: names, expressions over ids, and earlier aliases."""

    names: list[str] = field(default_factory=list)
    expressions: list[exp.Expr] = field(default_factory=list)
    aliases: dict[str, exp.Expr] = field(default_factory=dict)

    def add(self, name: str, expression: exp.Expr, *, aliased: bool) -> None:
        self.names.append(name)
        self.expressions.append(expression)
        if aliased:
            self.aliases.setdefault(name.lower(), expression)


def select_query(context: Lowering, select: exp.Select, outer: Scope | None) -> tuple[Node, Scope]:
    """The operators of one SELECT and the scope of its result."""
    _refuse_unread(select)
    node, scope = from_clause(context, select, outer)
    where = select.args.get("where")
    if where is not None:
        node = filtered(context, node, scope, where.this)
    selected = _select_list(select, scope)
    having = _having(select, scope, selected)
    order = _order(select, scope, selected)
    if _is_grouped(select, selected, having):
        grouping = group(context, node, scope, select, selected.expressions)
        node, keep = grouping.node, grouping.over_groups
        selected.expressions = [keep(e) for e in selected.expressions]
        if having is not None:
            node = Filter(node, _no_window(grouping, having))
        order = [_ordered(o, keep(o.this)) for o in order]
    elif having is not None:
        node = Filter(node, having)
    node = _windowed(context, node, selected, order)
    if select.args.get("qualify"):
        raise NotLoweredError("QUALIFY", "a QUALIFY clause")
    return _projected(context, select, node, selected, order)


def _refuse_unread(select: exp.Select) -> None:
    for clause in _UNREAD:
        if select.args.get(clause):
            raise NotLoweredError("CLAUSE", f"the clause {clause.upper()}")


def _select_list(select: exp.Select, scope: Scope) -> Selected:
    selected = Selected()
    for index, written in enumerate(select.expressions):
        if isinstance(written, exp.Star) or (
            isinstance(written.this, exp.Star) and isinstance(written, exp.Column)
        ):
            _add_star(selected, written, scope)
        elif isinstance(written, exp.Alias):
            resolved = resolve(written.this, scope, selected.aliases)
            selected.add(written.alias, resolved, aliased=True)
        elif isinstance(written, exp.Aliases):
            raise NotLoweredError("GENERATOR", "a generator in the select list")
        else:
            resolved = resolve(written, scope, selected.aliases)
            selected.add(_implied_name(written, index), resolved, aliased=False)
    return selected


def _add_star(selected: Selected, written: exp.Expr, scope: Scope) -> None:
    star = written if isinstance(written, exp.Star) else written.this
    if star.args.get("replace") or star.args.get("rename"):
        raise NotLoweredError("STAR", "a star with REPLACE or RENAME")
    left_out = {c.name.lower() for c in star.args.get("except_") or []}
    relation = written.table if isinstance(written, exp.Column) else None
    entries = scope.star(relation or None)
    if not entries:
        raise NotLoweredError("STAR", f"{relation}.* is no relation in scope")
    for entry in entries:
        if entry.name.lower() not in left_out:
            selected.add(entry.name, column(entry.id), aliased=False)


def _implied_name(written: exp.Expr, index: int) -> str:
    if isinstance(written, (exp.Column, exp.Dot)):
        return written.name
    return f"_c{index}"


def _having(select: exp.Select, scope: Scope, selected: Selected) -> exp.Expr | None:
    having = select.args.get("having")
    if having is None:
        return None
    for written in having.this.find_all(exp.Column):
        alias = selected.aliases.get(written.name.lower())
        if alias is None or written.table:
            continue
        found = scope.find([written.name])
        if found is not None and alias != column(found[0]):
            raise NotLoweredError(
                "AMBIGUOUS_HAVING", f"`{written.name}` in HAVING is both a column and an alias"
            )
    return resolve(having.this, scope, selected.aliases)


def _order(select: exp.Select, scope: Scope, selected: Selected) -> list[exp.Ordered]:
    """Sort keys; they matter only under LIMIT or OFFSET, a view is a bag."""
    if not (select.args.get("limit") or select.args.get("offset")):
        return []
    order = select.args.get("order")
    return [_sort_key(o, scope, selected) for o in (order.expressions if order else [])]


def _sort_key(written: exp.Ordered, scope: Scope, selected: Selected) -> exp.Ordered:
    by = written.this
    if isinstance(by, exp.Literal) and not by.is_string:
        return _ordered(written, selected.expressions[int(by.name) - 1].copy())
    shown = dict(zip((n.lower() for n in selected.names), selected.expressions, strict=True))
    if isinstance(by, exp.Column) and not by.table and by.name.lower() in shown:
        return _ordered(written, shown[by.name.lower()].copy())
    if any(c.name.lower() in selected.aliases and not c.table for c in by.find_all(exp.Column)):
        raise NotLoweredError("ORDER_BY_ALIAS", "an expression over an alias in ORDER BY")
    return _ordered(written, resolve(by, scope))


def _ordered(written: exp.Ordered, by: exp.Expr) -> exp.Ordered:
    copied = written.copy()
    copied.set("this", by)
    return copied


def _is_grouped(select: exp.Select, selected: Selected, having: exp.Expr | None) -> bool:
    return (
        select.args.get("group") is not None
        or any(contains_aggregate(e) for e in selected.expressions)
        or (having is not None and contains_aggregate(having))
    )


def _no_window(grouping: Grouping, having: exp.Expr) -> exp.Expr:
    if having.find(exp.Window):
        raise NotLoweredError("WINDOW_IN_HAVING", "a window function in HAVING")
    return grouping.over_groups(having)


def _windowed(context: Lowering, node: Node, selected: Selected, order: list[exp.Ordered]) -> Node:
    """Window functions become columns of a Window node below the projection."""
    items: list[Item] = []

    def as_column(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Window):
            return part
        if part.args.get("alias") or part.find(exp.Window) is not part:
            raise NotLoweredError("NAMED_WINDOW", "a named or nested window")
        for item in items:
            if item.expression == part:
                return column(item.id)
        items.append(Item(context.fresh("window"), part.copy()))
        return column(items[-1].id)

    selected.expressions = [e.transform(as_column) for e in selected.expressions]
    for key in order:
        key.set("this", key.this.transform(as_column))
    return Window(node, tuple(items)) if items else node


def _projected(
    context: Lowering,
    select: exp.Select,
    node: Node,
    selected: Selected,
    order: list[exp.Ordered],
) -> tuple[Node, Scope]:
    items = [
        Item(context.fresh(name), expression)
        for name, expression in zip(selected.names, selected.expressions, strict=True)
    ]
    shown = {item.expression: item.id for item in items}
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        raise NotLoweredError("DISTINCT_ON", "DISTINCT ON")
    extra: list[Item] = []
    for key in order:
        if key.this not in shown:
            extra.append(Item(context.fresh("sort"), key.this.copy()))
            shown[key.this] = extra[-1].id
        key.set("this", column(shown[key.this]))
    if extra and distinct is not None:
        raise NotLoweredError("ORDER_BY_HIDDEN", "DISTINCT ordered by what it does not show")
    result: Node = Project(node, (*items, *extra))
    result = Distinct(result) if distinct is not None else result
    result = _limited(select, result, order)
    if extra:
        result = Project(result, tuple(Item(context.fresh(i.id), column(i.id)) for i in items))
    entries = zip(selected.names, result.columns, strict=True)
    return result, Scope(tuple(Entry(name, id_, None) for name, id_ in entries))


def _limited(select: exp.Select, node: Node, order: list[exp.Ordered]) -> Node:
    limit, offset = select.args.get("limit"), select.args.get("offset")
    if limit is None and offset is None:
        return node
    counts = [part.expression if part is not None else None for part in (limit, offset)]
    if any(count is not None and count.find(exp.Column) for count in counts):
        raise NotLoweredError("LIMIT", "a LIMIT that is not a constant")
    return TopK(node, tuple(order), counts[0], counts[1])
