"""A query with its operators in brackets, as our parser understood them.

Written back as it came, a text means to Spark what it meant before, however our parser grouped it:
to us `a BETWEEN b AND c = d` compares the BETWEEN with d, to Spark its upper end is `c = d`. In
brackets the grouping is said, and a difference shows in Spark's plan.
"""

from __future__ import annotations

from sqlglot import exp

_GROUPING = (
    exp.Add,
    exp.And,
    exp.Between,
    exp.BitwiseAnd,
    exp.BitwiseNot,
    exp.BitwiseOr,
    exp.BitwiseXor,
    exp.Div,
    exp.DPipe,
    exp.EQ,
    exp.GT,
    exp.GTE,
    exp.ILike,
    exp.In,
    exp.IntDiv,
    exp.Is,
    exp.Like,
    exp.LT,
    exp.LTE,
    exp.Mod,
    exp.Mul,
    exp.NEQ,
    exp.Neg,
    exp.Not,
    exp.NullSafeEQ,
    exp.Or,
    exp.RegexpLike,
    exp.Sub,
)


_DENIED = (exp.Between, exp.ILike, exp.In, exp.Is, exp.Like, exp.RegexpLike)
"""With NOT before them they are operators of their own, such as IS NOT NULL."""


_CHAINED = (exp.And, exp.Or)
"""Chains of them have no grouping: Spark makes balanced trees of long ones."""


def bracketed(query: exp.Expr) -> exp.Expr:
    """The same tree; what an operator is applied to stands in brackets if it is one itself."""
    tree = query.copy()
    for node in reversed(list(tree.walk())):
        above = node.parent
        denied = isinstance(above, exp.Not) and isinstance(node, _DENIED)
        chained = isinstance(above, _CHAINED) and type(node) is type(above) and above.this is node
        is_inside = isinstance(node, _GROUPING) and isinstance(above, _GROUPING)
        if is_inside and not denied and not chained:
            brackets = exp.Paren()
            node.replace(brackets)
            brackets.set("this", node)
    return tree
