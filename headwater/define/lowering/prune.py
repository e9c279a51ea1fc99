"""Drop what nobody reads, so that a change of an unused column is no change."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

from headwater.vocabulary.algebra import (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Item,
    Join,
    Node,
    Opaque,
    Pivot,
    Project,
    Scan,
    SetOperation,
    TopK,
    UnionAll,
    Window,
    passed,
    used_columns,
)

Ids = frozenset[str]


def pruned(root: Node) -> Node:
    """The same tree, its root's columns untouched, without columns that nothing above reads."""
    return prune(root, frozenset(root.columns))


@singledispatch
def prune(node: Node, needed: Ids) -> Node:
    raise TypeError(f"no pruning rule for {type(node).__name__}")


@prune.register
def _scan(node: Scan, needed: Ids) -> Node:
    fields = tuple(f for f in node.fields if f[1] in needed)
    return replace(node, fields=fields or node.fields[:1])


@prune.register
def _filter(node: Filter, needed: Ids) -> Node:
    return replace(node, input=prune(node.input, needed | used_columns(node.predicate)))


@prune.register
def _project(node: Project, needed: Ids) -> Node:
    items = _kept(node.items, needed) or node.items[:1]
    return Project(prune(node.input, _read(items)), items)


@prune.register
def _join(node: Join, needed: Ids) -> Node:
    wanted = needed | (used_columns(node.on) if node.on is not None else frozenset())
    return replace(node, left=prune(node.left, wanted), right=prune(node.right, wanted))


@prune.register
def _aggregate(node: Aggregate, needed: Ids) -> Node:
    aggregates = _kept(node.aggregates, needed)
    if not node.keys and not aggregates:  # its one row is needed even if no value is
        aggregates = node.aggregates[:1]
    below = prune(node.input, _read((*node.keys, *aggregates)))
    return replace(node, input=below, aggregates=aggregates)


@prune.register
def _distinct(node: Distinct, needed: Ids) -> Node:
    return Distinct(prune(node.input, frozenset(node.input.columns)))


@prune.register
def _union(node: UnionAll, needed: Ids) -> Node:
    """Columns stay by position in all branches; a union below DISTINCT needs all of them."""
    kept = [n for n, id_ in enumerate(node.ids) if id_ in needed] or [0]
    branches = tuple(_cut(b, tuple(b.columns[n] for n in kept)) for b in node.branches)
    return UnionAll(branches, tuple(node.ids[n] for n in kept))


def _cut(node: Node, ids: tuple[str, ...]) -> Node:
    """Exactly these columns: a branch is matched by position."""
    below = prune(node, frozenset(ids))
    return below if below.columns == ids else Project(below, passed(ids))


@prune.register
def _set_operation(node: SetOperation, needed: Ids) -> Node:
    left, right = (_cut(side, side.columns) for side in (node.left, node.right))
    return replace(node, left=left, right=right)


@prune.register
def _window(node: Window, needed: Ids) -> Node:
    items = _kept(node.items, needed)
    below = prune(node.input, needed | _read(items))
    return Window(below, items) if items else below


@prune.register
def _generate(node: Generate, needed: Ids) -> Node:
    return replace(node, input=prune(node.input, needed | used_columns(node.generator)))


@prune.register
def _pivot(node: Pivot, needed: Ids) -> Node:
    """Every column of its input decides what the groups are, so all stay."""
    return replace(node, input=prune(node.input, frozenset(node.input.columns)))


@prune.register
def _top_k(node: TopK, needed: Ids) -> Node:
    keys: Ids = frozenset().union(*(used_columns(key) for key in node.order))
    return replace(node, input=prune(node.input, needed | keys))


@prune.register
def _opaque(node: Opaque, needed: Ids) -> Node:
    return node


def _kept(items: tuple[Item, ...], needed: Ids) -> tuple[Item, ...]:
    return tuple(item for item in items if item.id in needed)


def _read(items: tuple[Item, ...]) -> Ids:
    return frozenset().union(*(used_columns(item.expression) for item in items))
