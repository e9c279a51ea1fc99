"""WHERE, with IN and EXISTS sub-queries turned into semi and anti joins."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from headwater.define.lowering.context import Lowering
from headwater.define.lowering.expressions import (
    all_of,
    conjuncts,
    contains_aggregate,
    resolve,
)
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.scope import Scope
from headwater.define.lowering.tables import from_clause
from headwater.vocabulary.algebra import (
    Filter,
    Join,
    JoinKind,
    Node,
    used_columns,
    walk,
)

_PLAIN = {"expressions", "from_", "joins", "where", "laterals", "distinct"}


def filtered(context: Lowering, node: Node, scope: Scope, predicate: exp.Expr) -> Node:
    """Rows that satisfy every conjunct; plain ones first, so that joins see fewer rows."""
    parts = conjuncts(predicate)
    subqueries = [part for part in parts if part.find(exp.Query)]
    plain = [resolve(part, scope) for part in parts if not part.find(exp.Query)]
    condition = all_of(plain)
    if condition is not None:
        node = Filter(node, condition)
    for part in subqueries:
        node = _existence(context, node, scope, part)
    return node


def _existence(context: Lowering, node: Node, scope: Scope, part: exp.Expr) -> Node:
    negated = False
    while isinstance(part, (exp.Not, exp.Paren)):
        negated = negated != isinstance(part, exp.Not)
        part = part.this
    kind = JoinKind.ANTI if negated else JoinKind.SEMI
    if isinstance(part, exp.Exists) and isinstance(part.this, exp.Select):
        return _joined(context, node, scope, part.this, None, kind)
    if isinstance(part, exp.In) and part.args.get("query") and not negated:
        query = part.args["query"].unnest()
        if isinstance(query, exp.Select) and not part.this.find(exp.Query):
            return _joined(context, node, scope, query, part.this, kind)
    if isinstance(part, exp.In):
        raise NotLoweredError("NOT_IN", "NOT IN over a sub-query")
    raise NotLoweredError("SUBQUERY", "a sub-query stands inside an expression")


def _joined(
    context: Lowering,
    node: Node,
    scope: Scope,
    query: exp.Select,
    needle: exp.Expr | None,
    kind: JoinKind,
) -> Node:
    """The sub-query's own conditions stay inside; those that name the outer row become ON."""
    if any(value for key, value in query.args.items() if key not in _PLAIN):
        raise NotLoweredError("SUBQUERY", "a grouped or limited sub-query in WHERE")
    if any(contains_aggregate(e) for e in query.expressions):
        raise NotLoweredError("SUBQUERY", "an aggregate in a sub-query in WHERE")
    right, inner = from_clause(context, query, replace(scope, outer=None))
    outside = frozenset(entry.id for entry in scope.entries)
    inside, on = _split(query, inner, outside)
    if needle is not None:
        on.append(_membership(needle, scope, query, inner))
    if any(outside & _read(below) for below in walk(right)):
        raise NotLoweredError("CORRELATED_JOIN", "a join condition names the outer row")
    condition = all_of(inside)
    right = Filter(right, condition) if condition is not None else right
    return Join(node, right, kind, all_of(on) or exp.true())


def _split(
    query: exp.Select, inner: Scope, outside: frozenset[str]
) -> tuple[list[exp.Expr], list[exp.Expr]]:
    where = query.args.get("where")
    parts = [resolve(part, inner) for part in conjuncts(where.this if where else None)]
    correlated = [part for part in parts if used_columns(part) & outside]
    return [part for part in parts if not used_columns(part) & outside], correlated


def _membership(needle: exp.Expr, scope: Scope, query: exp.Select, inner: Scope) -> exp.Expr:
    if isinstance(needle, exp.Tuple) or len(query.expressions) != 1:
        raise NotLoweredError("TUPLE_IN", "IN over several columns")
    shown = query.expressions[0]
    if isinstance(shown, exp.Star) or isinstance(shown.this, exp.Star):
        raise NotLoweredError("STAR", "IN over a star")
    value = resolve(shown.this if isinstance(shown, exp.Alias) else shown, inner)
    mine = resolve(needle, scope)
    return exp.EQ(this=exp.Paren(this=mine), expression=exp.Paren(this=value))


def _read(node: Node) -> frozenset[str]:
    if isinstance(node, Filter):
        return used_columns(node.predicate)
    if isinstance(node, Join) and node.on is not None:
        return used_columns(node.on)
    return frozenset()
