"""Expressions to which Spark gives another shape, or other names, than our parser does.

The text that we write is the same, so Spark reads it as it read the user's. But we take trees
apart, and a part of such a tree is not a part of what Spark computes.
"""

from __future__ import annotations

import re

from sqlglot import exp

from headwater.define.lowering.refusal import NotLoweredError

_NUMBERED = re.compile(r"_\d+$")
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_ORDERED = (exp.LT, exp.LTE, exp.GT, exp.GTE)
_ASKED = (exp.In, exp.Between, exp.Like, exp.ILike, exp.RegexpLike, exp.Is)
_BITS = (
    exp.BitwiseAnd,
    exp.BitwiseOr,
    exp.BitwiseXor,
    exp.BitwiseLeftShift,
    exp.BitwiseRightShift,
    exp.DPipe,
)


def refuse_misread(expression: exp.Expr) -> None:
    """An expression as written, without the queries in it."""
    for node in expression.walk(prune=lambda part: isinstance(part, exp.Query)):
        for check in _CHECKS:
            if (why := check(node)) is not None:
                raise NotLoweredError("PARSED_DIFFERENTLY", why)


def _variable(node: exp.Expr) -> str | None:
    """Columns get numbers here, and Spark's names know no case."""
    if not isinstance(node, exp.Lambda):
        return None
    names = {variable.name.lower() for variable in node.expressions}
    if any(_NUMBERED.search(name) for name in names):
        return "a variable that is called like a column of ours"
    parts = (part for found in node.this.find_all(exp.Column) for part in found.parts)
    return "a variable in another case" if any(p.name.lower() in names for p in parts) else None


def _any(node: exp.Expr) -> str | None:
    is_call = isinstance(node, exp.Any) and not isinstance(node.parent, (exp.Like, exp.ILike))
    return "any() is an aggregate to Spark" if is_call else None


def _comparison(node: exp.Expr) -> str | None:
    """`a = b IN (c)` is `(a = b) IN (c)` to Spark."""
    if isinstance(node, _COMPARED) and isinstance(node.right, (*_ASKED, *_ORDERED)):
        return "a comparison before another one without brackets"
    return None


def _bits(node: exp.Expr) -> str | None:
    """`a | b & c` is `a | (b & c)` to Spark."""
    if isinstance(node, _BITS) and any(_is_other(node, side) for side in (node.left, node.right)):
        return "several operators on bits or texts without brackets"
    return None


def _list(node: exp.Expr) -> str | None:
    """`a IN ((SELECT ...))` is a list of one scalar sub-query to Spark."""
    is_list = isinstance(node, exp.In) and _is_bracketed(node.args.get("query"))
    return "a scalar sub-query in a list" if is_list else None


def _field(node: exp.Expr) -> str | None:
    """struct((k)) has a field k."""
    if _is_struct(node) and any(isinstance(part, exp.Paren) for part in node.expressions):
        return "a field that is called after a column in brackets"
    return None


_CHECKS = (_variable, _any, _comparison, _bits, _list, _field)


def _is_other(node: exp.Expr, side: exp.Expr) -> bool:
    terms = (exp.Add, exp.Sub) if isinstance(node, exp.DPipe) else ()
    return isinstance(side, (*_BITS, *terms)) and type(side) is not type(node)


def _is_bracketed(query: exp.Expr | None) -> bool:
    return isinstance(query, exp.Subquery) and isinstance(query.this, (exp.Subquery, exp.Paren))


def _is_struct(node: exp.Expr) -> bool:
    return isinstance(node, exp.Tuple) or (
        isinstance(node, exp.Anonymous) and node.name.lower() == "struct"
    )
