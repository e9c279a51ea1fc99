"""Windows over all rows at the top of a tree.

They keep every row of what they look at. So a table that stores its columns too holds all of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from sqlglot import exp

from headwater.plan.restrict import shared_partition
from headwater.vocabulary.algebra import Item, Node, Project, Window, passed, used_columns


def looked_at(root: Node) -> Node | None:
    """The input of the lowest of such windows, if projections and windows are all that follows."""
    found, node = None, root
    while isinstance(node, (Project, Window)):
        if isinstance(node, Window) and not shared_partition(node):
            found = node.input
        node = node.input
    return found


def carrying(root: Node, below: Node) -> tuple[Node, Node]:
    """The same tree with all columns of `below` that it uses at its top, and that lowest part."""
    used = _used(root, below)
    kept = tuple(id_ for id_ in below.columns if id_ in used)
    cut = below if kept == below.columns else Project(below, passed(kept))
    return _carrying(root, below, cut), cut


def _carrying(node: Node, below: Node, cut: Node) -> Node:
    if node is below:
        return cut
    node = cast("Project | Window", node)
    lower = _carrying(node.input, below, cut)
    if isinstance(node, Window):
        return replace(node, input=lower)
    there = carried(lower, cut)
    shown = _plain(node.items)
    rest = tuple(id_ for id_ in there.values() if id_ not in shown)
    return Project(lower, (*node.items, *passed(rest)))


def carried(root: Node, below: Node) -> dict[str, str]:
    """Each column of `below`, and which column of the tree's top is that one."""
    if root is below:
        return {id_: id_ for id_ in below.columns}
    root = cast("Project | Window", root)
    there = carried(root.input, below)
    if isinstance(root, Window):
        return there
    shown = _plain(root.items)
    return {id_: shown[at] for id_, at in there.items() if at in shown}


def upon(root: Node, below: Node, other: Node) -> Node:
    """The same tree upon another lowest part with the same columns."""
    if root is below:
        return other
    node = cast("Project | Window", root)
    return replace(node, input=upon(node.input, below, other))


def _used(root: Node, below: Node) -> set[str]:
    used, node = set(root.columns), root
    while node is not below:
        node = cast("Project | Window", node)
        used |= {id_ for item in node.items for id_ in used_columns(item.expression)}
        node = node.input
    return used


def _plain(items: tuple[Item, ...]) -> dict[str, str]:
    """The columns that a projection hands on, and what it calls them."""
    return {i.expression.name: i.id for i in items if isinstance(i.expression, exp.Column)}
