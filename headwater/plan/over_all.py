"""Windows over all rows at the top of a tree.

They keep every row of what they look at. So a table that stores its columns too holds all of it.
"""

from __future__ import annotations

from typing import cast

from headwater.plan.restrict import shared_partition
from headwater.plan.stem import carrying, upon
from headwater.vocabulary.algebra import Node, Project, Window, passed, used_columns


def looked_at(root: Node) -> Node | None:
    """The input of the lowest of such windows, if projections and windows are all that follows."""
    found, node = None, root
    while isinstance(node, (Project, Window)):
        if isinstance(node, Window) and not shared_partition(node):
            found = node.input
        node = node.input
    return found


def with_input(root: Node, below: Node) -> tuple[Node, Node]:
    """The same tree with all columns of `below` that it uses at its top, and that lowest part."""
    used = _used(root, below)
    kept = tuple(id_ for id_ in below.columns if id_ in used)
    cut = below if kept == below.columns else Project(below, passed(kept))
    return carrying(upon(root, below, cut), cut, kept), cut


def _used(root: Node, below: Node) -> set[str]:
    used, node = set(root.columns), root
    while node is not below:
        node = cast("Project | Window", node)
        used |= {id_ for item in node.items for id_ in used_columns(item.expression)}
        node = node.input
    return used
