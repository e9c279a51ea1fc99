"""The operators at the top of a tree, each upon a single other, that show rows of what is below.

A table that stores some columns of what is below can stand in for it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import cast

from sqlglot import exp

from headwater.plan.render import Leaves, listed, render
from headwater.vocabulary.algebra import Filter, Item, Node, Project, Window, passed
from headwater.vocabulary.names import quoted

Stem = Project | Filter | Window


@dataclass(frozen=True)
class Known(Node):
    """A relation that is made already."""

    ids: tuple[str, ...]
    relation: str

    @property
    def columns(self) -> tuple[str, ...]:
        return self.ids


@render.register
def _known(node: Known, _: Leaves) -> str:
    return f"SELECT {listed(node.ids)} FROM {quoted(node.relation)}"


def carrying(root: Node, below: Node, ids: Collection[str]) -> Node:
    """The same tree with some columns of `below` at its top, shown or behind those that are."""
    if root is below:
        return root
    node = cast("Stem", root)
    lower = carrying(node.input, below, ids)
    if not isinstance(node, Project):
        return replace(node, input=lower)
    there = carried(lower, below)
    shown = _plain(node.items)
    rest = tuple(at for id_, at in there.items() if id_ in ids and at not in shown)
    return Project(lower, (*node.items, *passed(rest)))


def carried(root: Node, below: Node) -> dict[str, str]:
    """Each column of `below`, and which column of the tree's top is that one."""
    if root is below:
        return {id_: id_ for id_ in below.columns}
    node = cast("Stem", root)
    there = carried(node.input, below)
    if not isinstance(node, Project):
        return there
    shown = _plain(node.items)
    return {id_: shown[at] for id_, at in there.items() if at in shown}


def upon(root: Node, below: Node, other: Node) -> Node:
    """The same tree upon another lowest part with the same columns."""
    if root is below:
        return other
    node = cast("Stem", root)
    return replace(node, input=upon(node.input, below, other))


def _plain(items: tuple[Item, ...]) -> dict[str, str]:
    """The columns that a projection hands on, and what it calls them."""
    return {i.expression.name: i.id for i in items if isinstance(i.expression, exp.Column)}
