"""Sub-queries in a join condition.

a JOIN b ON p AND EXISTS (q)        ->  a filter above the join
a LEFT JOIN b ON p AND b.x IN (q)   ->  b with a column for the answer, below the join
"""

from __future__ import annotations

from sqlglot import exp

from headwater.define.lowering.attach import Attaching
from headwater.define.lowering.context import Lowering
from headwater.define.lowering.expressions import all_of, conjuncts
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.subquery import Sub
from headwater.define.lowering.where import kept_by
from headwater.vocabulary.algebra import Join, JoinKind, Node, used_columns


def joined_on(context: Lowering, left: Node, right: Node, kind: JoinKind, on: exp.Expr) -> Node:
    """The join of two relations whose condition has sub-queries."""
    parts = conjuncts(on)
    if kind in {JoinKind.INNER, JoinKind.CROSS}:
        plain = all_of([part for part in parts if not part.find(Sub)])
        product = JoinKind.INNER if plain is not None else JoinKind.CROSS
        asking = [part for part in parts if part.find(Sub)]
        return kept_by(context, Join(left, right, product, plain), asking)
    sides = (Attaching.to(context, left), Attaching.to(context, right))
    answered = [_answered(part, sides) for part in parts]
    return Join(sides[0].node, sides[1].node, kind, all_of(answered))


def _answered(part: exp.Expr, sides: tuple[Attaching, Attaching]) -> exp.Expr:
    """A condition whose sub-queries ask one side only, answered on that side."""
    asked = {id_ for found in part.find_all(Sub) for id_ in used_columns(found)}
    if asked <= set(sides[1].base.columns):
        return sides[1].values(part)
    if asked <= set(sides[0].base.columns):
        return sides[0].values(part)
    raise NotLoweredError("SUBQUERY", "a sub-query in ON that asks both sides of an outer join")
