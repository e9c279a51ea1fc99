"""σ_p(X) inside a sub-query is a join with X on p: conditions on the outer row move up.

EXISTS (SELECT s.a FROM s WHERE s.k = r.k AND s.b > 0)    ->    r ⋉ σ(s.b > 0)(s) ON s.k = r.k
"""

from __future__ import annotations

from sqlglot import exp

from headwater.define.lowering.expressions import all_of, conjuncts
from headwater.define.lowering.free import is_closed
from headwater.vocabulary.algebra import (
    Filter,
    Join,
    JoinKind,
    Node,
    Project,
    passed,
    used_columns,
)

Lifted = tuple[Node, list[exp.Expr]]
"""A tree that reads nothing from outside, and the conditions that do."""


def lift(node: Node, outside: frozenset[str]) -> Lifted | None:
    """The same rows as a closed tree under conditions; None where they cannot be separated.

    The closed tree has at least the node's columns, and those that the conditions read.
    """
    if is_closed(node, outside):
        return node, []
    if isinstance(node, Filter):
        return _filter(node, outside)
    if isinstance(node, Project):
        return _project(node, outside)
    if isinstance(node, Join) and node.kind in {JoinKind.INNER, JoinKind.CROSS}:
        return _join(node, outside)
    return None


def _filter(node: Filter, outside: frozenset[str]) -> Lifted | None:
    below = lift(node.input, outside)
    if below is None:
        return None
    parts = conjuncts(node.predicate)
    inside = all_of([part for part in parts if not used_columns(part) & outside])
    conditions = [part for part in parts if used_columns(part) & outside]
    closed = Filter(below[0], inside) if inside is not None else below[0]
    return closed, below[1] + conditions


def _project(node: Project, outside: frozenset[str]) -> Lifted | None:
    below = lift(node.input, outside)
    if below is None or any(used_columns(item.expression) & outside for item in node.items):
        return None
    made = {item.id for item in node.items}
    read = {id_ for condition in below[1] for id_ in used_columns(condition)}
    extra = tuple(id_ for id_ in below[0].columns if id_ in read - made)
    return Project(below[0], (*node.items, *passed(extra))), below[1]


def _join(node: Join, outside: frozenset[str]) -> Lifted | None:
    left, right = lift(node.left, outside), lift(node.right, outside)
    if left is None or right is None:
        return None
    parts = conjuncts(node.on)
    inside = all_of([part for part in parts if not used_columns(part) & outside])
    conditions = [part for part in parts if used_columns(part) & outside]
    kind = JoinKind.CROSS if inside is None else JoinKind.INNER
    return Join(left[0], right[0], kind, inside), left[1] + right[1] + conditions
