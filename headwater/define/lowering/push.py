"""σ_p(A × B) = A ⋈_p B: conditions move down to the join or the side that they are about.

    FROM a, b WHERE a.k = b.k AND a.x > 0    ->    σ(x > 0)(a) ⋈ b ON a.k = b.k

Spark does the same when it runs a query. Here it is done once more, because a law can follow keys
through a join only if the join itself says which columns are equal.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from headwater.define.lowering.expressions import all_of, conjuncts
from headwater.vocabulary.algebra import (
    Filter,
    Join,
    JoinKind,
    Node,
    Opaque,
    UnionAll,
    used_columns,
)

_PRODUCTS = {JoinKind.INNER, JoinKind.CROSS}
_LEFT_KEPT = {JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI}


def pushed(node: Node) -> Node:
    """The same tree with every condition as far down as inner joins let it go."""
    node = _with_inputs_pushed(node)
    if isinstance(node, Filter) and isinstance(node.input, Join):
        return _sunk(node.input, conjuncts(node.predicate))
    return node


def _with_inputs_pushed(node: Node) -> Node:
    if isinstance(node, Join):
        return replace(node, left=pushed(node.left), right=pushed(node.right))
    if isinstance(node, UnionAll):
        return replace(node, branches=tuple(pushed(branch) for branch in node.branches))
    if isinstance(node, Opaque) or not node.inputs:
        return node
    names = ("left", "right") if hasattr(node, "left") else ("input",)
    return replace(node, **{name: pushed(getattr(node, name)) for name in names})


def _sunk(node: Node, parts: list[exp.Expr]) -> Node:
    """Conditions on top of a node, taken down through its joins."""
    if not parts:
        return node
    if isinstance(node, Filter) and isinstance(node.input, Join):
        return _sunk(node.input, [*conjuncts(node.predicate), *parts])
    if isinstance(node, Join) and node.kind in _PRODUCTS:
        return _into_product(node, parts)
    if isinstance(node, Join) and node.kind in _LEFT_KEPT:
        mine = [part for part in parts if _reads(part, node.left)]
        rest = [part for part in parts if not _reads(part, node.left)]
        return _filtered(replace(node, left=_sunk(node.left, mine)), rest)
    return _filtered(node, parts)


def _into_product(node: Join, parts: list[exp.Expr]) -> Node:
    left = [part for part in parts if _reads(part, node.left)]
    right = [part for part in parts if part not in left and _reads(part, node.right)]
    both = [part for part in parts if part not in left and part not in right]
    on = all_of([*conjuncts(node.on), *both])
    kind = JoinKind.CROSS if on is None else JoinKind.INNER
    return Join(_sunk(node.left, left), _sunk(node.right, right), kind, on)


def _filtered(node: Node, parts: list[exp.Expr]) -> Node:
    condition = all_of(parts)
    return Filter(node, condition) if condition is not None else node


def _reads(part: exp.Expr, side: Node) -> bool:
    """Whether a condition is about columns of one side and nothing else."""
    used = used_columns(part)
    return bool(used) and used <= set(side.columns)
