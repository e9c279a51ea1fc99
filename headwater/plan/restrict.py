"""Keep only the rows of touched keys, as near to the tables as possible.

σ_K(Q(S)) = Q(σ_K(S)) for every operator that works key by key: the semi-join with the touched keys
moves down through it, so a keyed recomputation reads only what its keys need.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch

from sqlglot import exp

from headwater.plan.equality import equal_pairs
from headwater.plan.render import Leaves, render
from headwater.plan.within import Bound, within
from headwater.vocabulary.algebra import (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Join,
    JoinKind,
    Node,
    Pivot,
    Project,
    SetOperation,
    Unary,
    UnionAll,
    Window,
    column,
    used_columns,
)
from headwater.vocabulary.dialect import written as text
from headwater.vocabulary.names import quoted

Keys = tuple[tuple[exp.Expr, str], ...]
"""Expressions over a node's columns, each with the column of the touched relation it must equal."""


@dataclass(frozen=True)
class Restrict(Unary):
    """The rows of the input whose keys are among the touched ones."""

    keys: Keys
    touched: str


@render.register
def _restrict(node: Restrict, leaves: Leaves) -> str:
    on = " AND ".join(f"({text(e)}) <=> {quoted(name)}" for e, name in node.keys)
    bounds = tuple(Bound(f"({text(e)})", node.touched, quoted(name)) for e, name in node.keys)
    below = f"SELECT * FROM ({render(node.input, leaves)}) WHERE {within(bounds)}"
    return f"SELECT * FROM ({below}) AS i LEFT SEMI JOIN {quoted(node.touched)} AS k ON {on}"


@singledispatch
def restrict(node: Node, keys: Keys, touched: str) -> Node:
    """The restricted operator; where a semi-join cannot move further down it stays."""
    return Restrict(node, keys, touched)


@restrict.register
def _filter(node: Filter, keys: Keys, touched: str) -> Node:
    """What is computed stays above: the filter may leave out rows that it cannot be computed of."""
    if not all(isinstance(expression.unnest(), exp.Column) for expression, _ in keys):
        return Restrict(node, keys, touched)
    return replace(node, input=restrict(node.input, keys, touched))


@restrict.register
def _distinct(node: Distinct, keys: Keys, touched: str) -> Node:
    return replace(node, input=restrict(node.input, keys, touched))


@restrict.register
def _project(node: Project, keys: Keys, touched: str) -> Node:
    meaning = {item.id: item.expression for item in node.items}
    below = _substituted(keys, meaning)
    if not _is_condition(below):
        return Restrict(node, keys, touched)
    return replace(node, input=restrict(node.input, below, touched))


@restrict.register
def _aggregate(node: Aggregate, keys: Keys, touched: str) -> Node:
    """Without keys there is a row even of nothing, whatever the touched keys are."""
    meaning = {item.id: item.expression for item in node.keys}
    below = _substituted(keys, meaning) if meaning and _read(keys) <= meaning.keys() else None
    if below is None or not _is_condition(below):
        return Restrict(node, keys, touched)
    return replace(node, input=restrict(node.input, below, touched))


@restrict.register
def _window(node: Window, keys: Keys, touched: str) -> Node:
    shared = shared_partition(node)
    if any(expression not in shared for expression, _ in keys):
        return Restrict(node, keys, touched)
    return replace(node, input=restrict(node.input, keys, touched))


@restrict.register
def _pivot(node: Pivot, keys: Keys, touched: str) -> Node:
    if not node.groups or not _read(keys) <= set(node.groups):
        return Restrict(node, keys, touched)
    return replace(node, input=restrict(node.input, keys, touched))


@restrict.register
def _generate(node: Generate, keys: Keys, touched: str) -> Node:
    if not _read(keys) <= set(node.input.columns):
        return Restrict(node, keys, touched)
    return replace(node, input=restrict(node.input, keys, touched))


@restrict.register
def _union(node: UnionAll, keys: Keys, touched: str) -> Node:
    branches = tuple(
        restrict(branch, _renamed(keys, node.ids, branch.columns), touched)
        for branch in node.branches
    )
    return replace(node, branches=branches)


@restrict.register
def _set_operation(node: SetOperation, keys: Keys, touched: str) -> Node:
    left = restrict(node.left, _renamed(keys, node.ids, node.left.columns), touched)
    right = restrict(node.right, _renamed(keys, node.ids, node.right.columns), touched)
    return replace(node, left=left, right=right)


@restrict.register
def _join(node: Join, keys: Keys, touched: str) -> Node:
    """A side may be restricted if rows outside the keys on that side cannot reach kept rows."""
    read = _read(keys)
    if read <= set(node.left.columns) and node.kind not in {JoinKind.RIGHT, JoinKind.FULL}:
        other = _carried(node, keys, from_left=True)
        right = restrict(node.right, other, touched) if other else node.right
        return replace(node, left=restrict(node.left, keys, touched), right=right)
    inner_or_right = {JoinKind.INNER, JoinKind.CROSS, JoinKind.RIGHT}
    if read <= set(node.right.columns) and node.kind in inner_or_right:
        other = _carried(node, keys, from_left=False)
        left = restrict(node.left, other, touched) if other else node.left
        return replace(node, left=left, right=restrict(node.right, keys, touched))
    return Restrict(node, keys, touched)


def _carried(node: Join, keys: Keys, *, from_left: bool) -> Keys | None:
    """The same keys on the other side, where the join condition equates them one by one."""
    pairs = [(a, b) if from_left else (b, a) for a, b in equal_pairs(node)]
    carried = []
    for expression, name in keys:
        match = next((other for mine, other in pairs if mine == expression), None)
        if match is None:
            return None
        carried.append((match, name))
    return tuple(carried)


def shared_partition(node: Window) -> tuple[exp.Expr, ...]:
    """The partition expressions that all window functions of a node have in common."""
    lists = [item.expression.args.get("partition_by") or [] for item in node.items]
    return tuple(e for e in lists[0] if all(e in other for other in lists[1:]))


def _substituted(keys: Keys, meaning: dict[str, exp.Expr]) -> Keys:
    return tuple((_replaced(expression, meaning), name) for expression, name in keys)


def _replaced(expression: exp.Expr, meaning: dict[str, exp.Expr]) -> exp.Expr:
    if isinstance(expression, exp.Column):
        return meaning[expression.name]

    def meant(part: exp.Expr) -> exp.Expr:
        return exp.Paren(this=meaning[part.name].copy()) if isinstance(part, exp.Column) else part

    return expression.copy().transform(meant)


def _renamed(keys: Keys, ours: tuple[str, ...], theirs: tuple[str, ...]) -> Keys:
    return _substituted(keys, dict(zip(ours, (column(id_) for id_ in theirs), strict=True)))


def _is_condition(keys: Keys) -> bool:
    """Whether keys may stand in a join's condition: window(...) of a timestamp may not."""
    calls = (call for expression, _ in keys for call in expression.find_all(exp.Anonymous))
    return not any(call.name.lower() == "window" for call in calls)


def _read(keys: Keys) -> set[str]:
    return {id_ for expression, _ in keys for id_ in used_columns(expression)}
