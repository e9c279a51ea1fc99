"""Which expressions of a join's sides its condition sets equal."""

from __future__ import annotations

from sqlglot import exp

from headwater.define.lowering.expressions import conjuncts
from headwater.vocabulary.algebra import Join, used_columns


def equal_pairs(join: Join) -> tuple[tuple[exp.Expr, exp.Expr], ...]:
    """(left expression, right expression) for every conjunct `l = r` or `l <=> r`."""
    pairs = []
    for part in map(_bare, conjuncts(join.on)):
        if isinstance(part, (exp.EQ, exp.NullSafeEQ)):
            pair = _sided(join, _bare(part.left), _bare(part.right))
            if pair is not None:
                pairs.append(pair)
    return tuple(pairs)


def _sided(join: Join, one: exp.Expr, other: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    left, right = set(join.left.columns), set(join.right.columns)
    first, second = used_columns(one), used_columns(other)
    if first and second and first <= left and second <= right:
        return one, other
    if first and second and first <= right and second <= left:
        return other, one
    return None


def _bare(expression: exp.Expr) -> exp.Expr:
    while isinstance(expression, exp.Paren):
        expression = expression.this
    return expression
