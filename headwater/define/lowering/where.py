"""A condition: plain conditions first, then sub-queries as semi and anti joins.

    WHERE EXISTS (q)   ->  r ⋉ q            WHERE NOT EXISTS (q)  ->  r ▷ q
    WHERE x IN (q)     ->  r ⋉ q ON x = y   WHERE x NOT IN (q)    ->  r ▷ q ON x = y IS NOT FALSE

A sub-query anywhere else in a condition is attached as a column, and the condition filters on it.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.define.lowering.attach import Attaching, is_membership, membership
from headwater.define.lowering.context import Lowering
from headwater.define.lowering.depend import depend, substituted
from headwater.define.lowering.expressions import all_of, conjuncts, resolve
from headwater.define.lowering.lift import lift
from headwater.define.lowering.scope import Scope
from headwater.define.lowering.subquery import Sub
from headwater.vocabulary.algebra import Filter, Join, JoinKind, Node, column


def filtered(context: Lowering, node: Node, scope: Scope, predicate: exp.Expr) -> Node:
    """Rows that satisfy every conjunct; plain ones first, so that joins see fewer rows."""
    return kept_by(context, node, conjuncts(resolve(context, predicate, scope)))


def kept_by(context: Lowering, node: Node, parts: list[exp.Expr]) -> Node:
    """Rows for which all resolved conditions are true."""
    condition = all_of([part for part in parts if not part.find(Sub)])
    if condition is not None:
        node = Filter(node, condition)
    marked = []
    for part in parts:
        if not part.find(Sub):
            continue
        asked, negated = _bare(part)
        if isinstance(asked, Sub) and _is_join(context, asked, negated=negated):
            node = _joined(context, node, asked, negated=negated)
        else:
            marked.append(part)
    attaching = Attaching.to(context, node)
    rest = all_of([attaching.values(part) for part in marked])
    return Filter(attaching.node, rest) if rest is not None else node


def _bare(part: exp.Expr) -> tuple[exp.Expr, bool]:
    negated = False
    while isinstance(part, (exp.Not, exp.Paren)):
        negated = negated != isinstance(part, exp.Not)
        part = part.this
    return part, negated


def _is_join(context: Lowering, asked: Sub, *, negated: bool) -> bool:
    """EXISTS that asks nothing of the outer row is one question for all rows: no join.

    Neither is what an alias names and NOT turns round: NOT IN has been a question of its own.
    """
    dependent = context.dependents[asked.this]
    if dependent.kind == "SCALAR" or (negated and is_membership(dependent)):
        return False
    return bool(asked.expressions) and not any(part.find(Sub) for part in asked.expressions)


def _joined(context: Lowering, node: Node, asked: Sub, *, negated: bool) -> Node:
    dependent = context.dependents[asked.this]
    names = dependent.outer
    outer, needles = asked.expressions[: len(names)], asked.expressions[len(names) :]
    lifted = lift(dependent.node, frozenset(names))
    if lifted is not None and all(isinstance(e, exp.Column) for e in outer):
        right, conditions = lifted
        renamed = {name: e.name for name, e in zip(names, outer, strict=True)}
        on = [substituted(part, renamed) for part in conditions]
    else:
        attaching = Attaching.to(context, node)
        right, meaning = depend(dependent.node, attaching.domain(dependent.node, names, outer))
        on = [
            exp.NullSafeEQ(this=exp.Paren(this=e.copy()), expression=column(meaning[name]))
            for e, name in zip(outer, names, strict=True)
        ]
    on = [*on, *membership(dependent, [needle.copy() for needle in needles])]
    is_anti = negated != (dependent.kind == "NOT IN")
    kind = JoinKind.ANTI if is_anti else JoinKind.SEMI
    return Join(node, right, kind, all_of(on) or exp.true())
