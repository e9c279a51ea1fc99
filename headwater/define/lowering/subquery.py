"""Sub-queries inside expressions, until the rows around them are known.

    k > (SELECT avg(v) FROM t WHERE t.g = r.g)    ->    k > Sub("1", r.g)

A `Sub` names a lowered sub-query and lists what it needs of the outer row. The list is part of the
expression, so it follows it through aliases and grouping; `attach` then joins the sub-query.
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from headwater.define.lowering.context import Dependent, Lowering
from headwater.define.lowering.free import free_columns
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.scope import Scope
from headwater.vocabulary.algebra import column

_WRAPPERS = (exp.Paren, exp.Not)


class Sub(exp.Expression):
    """A lowered sub-query: `this` is its name, `expressions` what it reads of the outer row."""

    arg_types: ClassVar = {"this": True, "expressions": False}


def is_subquery(node: exp.Expr) -> bool:
    """A scalar sub-query, EXISTS, or [NOT] IN over a query."""
    if isinstance(node, exp.Not):
        return _is_in(_bare(node.this))
    return isinstance(node, exp.Query) or _is_exists(node) or _is_in(node)


def _is_in(node: exp.Expr) -> bool:
    return isinstance(node, exp.In) and bool(node.args.get("query"))


def _is_exists(node: exp.Expr) -> bool:
    return isinstance(node, exp.Exists) and isinstance(node.this, exp.Query)


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def needles_of(node: exp.Expr) -> list[exp.Expr]:
    """What IN looks for: one expression, or several in parentheses."""
    found = _bare(node.this) if isinstance(node, exp.Not) else node
    if not _is_in(found):
        return []
    return list(found.this.expressions) if isinstance(found.this, exp.Tuple) else [found.this]


def inward(expression: exp.Expr) -> exp.Expr:
    """NOT moved inward as far as an IN over a query, as Spark does before it runs one.

    NOT IN is a question of its own: a NULL in the sub-query answers it with no.
    """
    if not any(_is_in(node) for node in expression.find_all(exp.In)):
        return expression.copy()
    return expression.copy().transform(_pushed)


def _pushed(node: exp.Expr) -> exp.Expr:
    if not isinstance(node, exp.Not):
        return node
    inner = _bare(node.this)
    if isinstance(inner, exp.Not):
        return exp.Paren(this=_pushed(_bare(inner.this)))
    if isinstance(inner, (exp.And, exp.Or)) and any(_is_in(n) for n in inner.find_all(exp.In)):
        other = exp.Or if isinstance(inner, exp.And) else exp.And
        sides = (exp.Not(this=exp.Paren(this=side)) for side in (inner.left, inner.right))
        left, right = (exp.Paren(this=_pushed(side)) for side in sides)
        return exp.Paren(this=other(this=left, expression=right))
    return node


def sub(context: Lowering, node: exp.Expr, scope: Scope, needles: list[exp.Expr]) -> Sub:
    """Lower a sub-query once; the same text in the same scope is the same sub-query."""
    kind, query = _kind_and_query(node)
    asked = (kind, query.sql(), scope, tuple(map(id, context.ctes)))
    if asked not in context.asked:
        name = f"{kind} {context.fresh('asked')}"
        context.dependents[name] = _lowered(context, kind, query, scope)
        context.asked[asked] = name
    name = context.asked[asked]
    found = context.dependents[name]
    if needles and len(needles) != len(found.values):
        raise NotLoweredError("SUBQUERY", "IN compares other numbers of columns")
    if kind == "SCALAR" and len(found.values) != 1:
        raise NotLoweredError("SUBQUERY", "a scalar sub-query of several columns")
    return Sub(this=name, expressions=[*(column(id_) for id_ in found.outer), *needles])


def _kind_and_query(node: exp.Expr) -> tuple[str, exp.Expr]:
    if isinstance(node, exp.Not):
        return "NOT IN", _bare(node.this).args["query"]
    if isinstance(node, exp.In):
        return "IN", node.args["query"]
    if isinstance(node, exp.Exists):
        return "EXISTS", node.this
    return "SCALAR", node


def _lowered(context: Lowering, kind: str, query: exp.Expr, scope: Scope) -> Dependent:
    node, shown = context.query(context, query, scope)
    values = tuple(entry.id for entry in shown.star())
    return Dependent(kind, node, free_columns(node), values)
