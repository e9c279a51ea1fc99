"""One SELECT: filter, group, window, project, distinct, limit, in Spark's order."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.define.lowering.attach import Attaching
from headwater.define.lowering.context import Lowering
from headwater.define.lowering.expressions import conjuncts, contains_aggregate, resolve
from headwater.define.lowering.grouping import group
from headwater.define.lowering.having import having
from headwater.define.lowering.lost_order import refuse_lost_order
from headwater.define.lowering.ordering import is_limited, limited, ordered, sort_keys
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.scope import Entry, Scope
from headwater.define.lowering.selected import Generator, Selected, select_list
from headwater.define.lowering.sessions import with_sessions
from headwater.define.lowering.tables import from_clause
from headwater.define.lowering.time_windows import with_time_windows
from headwater.define.lowering.types import type_of
from headwater.define.lowering.where import filtered, kept_by
from headwater.define.lowering.windows import Windowing, with_windows_inlined
from headwater.vocabulary.algebra import (
    Distinct,
    Filter,
    Generate,
    Item,
    Node,
    Project,
    column,
    passed,
)

_UNREAD = (
    "kind",
    "match",
    "connect",
    "prewhere",
    "into",
    "locks",
    "sample",
    "settings",
    "format",
    "options",
)
_ARRANGING = ("cluster", "distribute", "sort")
"""How rows are spread over tasks and files; which rows there are is not their matter."""


@dataclass
class _Clauses:
    """The resolved parts of a SELECT above its FROM and WHERE."""

    selected: Selected
    having: exp.Expr | None
    qualify: exp.Expr | None
    order: list[exp.Ordered]


def select_query(context: Lowering, select: exp.Select, outer: Scope | None) -> tuple[Node, Scope]:
    """The operators of one SELECT and the scope of its result."""
    _refuse_unread(select)
    refuse_lost_order(context, select)
    select = with_time_windows(with_windows_inlined(select))
    node, scope = from_clause(context, select, outer)
    select = with_sessions(select, scope)
    where = select.args.get("where")
    if where is not None:
        node = filtered(context, node, scope, where.this)
    selected = select_list(context, select, scope)
    condition = having(context, select, scope, selected)
    qualify = _qualify(context, select, scope, selected)
    clauses = _Clauses(selected, condition, qualify, sort_keys(context, select, scope, selected))
    if _is_grouped(select, clauses):
        node = _grouped(context, node, scope, select, clauses)
    elif condition is not None:
        raise NotLoweredError("GLOBAL_AGGREGATE", "HAVING makes one group of all rows")
    node = _attached(context, node, clauses)
    node = _windowed(context, node, clauses)
    return _projected(context, select, node, clauses)


def _refuse_unread(select: exp.Select) -> None:
    for clause in _UNREAD:
        if select.args.get(clause):
            raise NotLoweredError("CLAUSE", f"the clause {clause.upper()}")
    if is_limited(select) and any(select.args.get(clause) for clause in _ARRANGING):
        raise NotLoweredError("CLAUSE", "LIMIT after SORT BY, CLUSTER BY or DISTRIBUTE BY")


def _qualify(
    context: Lowering, select: exp.Select, scope: Scope, selected: Selected
) -> exp.Expr | None:
    written = select.args.get("qualify")
    if written is None:
        return None
    for name in written.this.find_all(exp.Column):
        alias = selected.aliases.get(name.name.lower())
        if alias is None or name.table or name.find_ancestor(exp.Query) is not select:
            continue
        found = scope.find([name.name])
        if found is not None and alias != column(found[0]):
            code = "AMBIGUOUS_HAVING"
            raise NotLoweredError(code, f"`{name.name}` in QUALIFY is column and alias")
    return resolve(context, written.this, scope, selected.aliases)


def _is_grouped(select: exp.Select, clauses: _Clauses) -> bool:
    conditions = [e for e in (clauses.having, clauses.qualify) if e is not None]
    expressions = [*clauses.selected.expressions, *conditions, *(o.this for o in clauses.order)]
    if clauses.selected.generator is not None:
        expressions.append(clauses.selected.generator.call)
    return select.args.get("group") is not None or any(contains_aggregate(e) for e in expressions)


def _grouped(
    context: Lowering, node: Node, scope: Scope, select: exp.Select, clauses: _Clauses
) -> Node:
    """The aggregate, and every clause above it in terms of its groups."""
    selected = clauses.selected
    grouping = group(context, node, scope, select, selected)
    keep = grouping.over_groups
    selected.expressions = [keep(e) for e in selected.expressions]
    if selected.generator is not None:
        selected.generator = Generator(keep(selected.generator.call), selected.generator.ids)
    if clauses.having is not None and clauses.having.find(exp.Window):
        raise NotLoweredError("WINDOW_IN_HAVING", "a window function in HAVING")
    having = keep(clauses.having) if clauses.having is not None else None
    clauses.qualify = keep(clauses.qualify) if clauses.qualify is not None else None
    clauses.order = [ordered(o, keep(o.this)) for o in clauses.order]
    if having is None:
        return grouping.node
    return kept_by(context, grouping.node, conjuncts(having))


def _attached(context: Lowering, node: Node, clauses: _Clauses) -> Node:
    """The columns of sub-queries, then those of a generator."""
    selected, attaching = clauses.selected, Attaching.to(context, node)
    selected.expressions = [attaching.values(e) for e in selected.expressions]
    if clauses.qualify is not None:
        clauses.qualify = attaching.values(clauses.qualify)
    clauses.order = [ordered(o, attaching.values(o.this)) for o in clauses.order]
    generator = selected.generator
    if generator is None:
        return attaching.node
    if any(e.find(exp.Window) for e in (*selected.expressions, generator.call)):
        raise NotLoweredError("GENERATOR", "a generator beside a window function")
    call = attaching.values(generator.call)
    return Generate(attaching.node, call, generator.ids, outer=False)


def _windowed(context: Lowering, node: Node, clauses: _Clauses) -> Node:
    """Window functions become columns of a Window node below the projection."""
    windowing, selected = Windowing(context), clauses.selected
    selected.expressions = [windowing.columns(e) for e in selected.expressions]
    clauses.order = [ordered(o, windowing.columns(o.this)) for o in clauses.order]
    qualify = windowing.columns(clauses.qualify) if clauses.qualify is not None else None
    node = windowing.node(node)
    return Filter(node, qualify) if qualify is not None else node


def _projected(
    context: Lowering, select: exp.Select, node: Node, clauses: _Clauses
) -> tuple[Node, Scope]:
    selected, order = clauses.selected, clauses.order
    items = [
        Item(context.fresh(name), expression)
        for name, expression in zip(selected.names, selected.expressions, strict=True)
    ]
    known = ((item.id, type_of(item.expression, context.types)) for item in items)
    context.types.update((id_, type_) for id_, type_ in known if type_ is not None)
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        raise NotLoweredError("DISTINCT_ON", "DISTINCT ON")
    keys, extra = _hidden_keys(context, items, order)
    if extra and distinct is not None:
        raise NotLoweredError("ORDER_BY_HIDDEN", "DISTINCT ordered by what it does not show")
    result: Node = Project(node, (*items, *extra))
    result = Distinct(result) if distinct is not None else result
    result = limited(select, result, keys)
    if extra:
        result = Project(result, passed(tuple(item.id for item in items)))
    entries = zip(selected.names, result.columns, selected.unsure, strict=True)
    return result, Scope(tuple(Entry(n, id_, None, sure=not u) for n, id_, u in entries))


def _hidden_keys(
    context: Lowering, items: list[Item], order: list[exp.Ordered]
) -> tuple[list[exp.Ordered], list[Item]]:
    """Sort keys as columns, and those that the query does not show."""
    shown = {item.expression.unnest(): item.id for item in items}
    keys, extra = [], []
    for key in order:
        by = key.this.unnest()
        if by not in shown:
            extra.append(Item(context.fresh("sort"), by.copy()))
            shown[by] = extra[-1].id
        keys.append(ordered(key, column(shown[by])))
    return keys, extra
