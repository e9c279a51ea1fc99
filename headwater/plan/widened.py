"""Branches of unions and set operations, in the types that Spark gives the whole.

Spark unites `int` and `double` as `double`: above the union a 1 is written "1.0", and equal to
other values than it was below. Whoever looks for a value of the union in a branch must look for it
in the type of the union, so the conversion is made part of the branch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp
from sqlglot.errors import ParseError

from headwater.vocabulary.algebra import (
    Item,
    Join,
    Node,
    Project,
    SetOperation,
    Unary,
    UnionAll,
    column,
    walk,
)
from headwater.vocabulary.dialect import parsed

Types = Mapping[str, str]
"""Column of a branch -> its type in the whole, where that is another one."""


def unions(root: Node) -> tuple[UnionAll | SetOperation, ...]:
    return tuple(node for node in walk(root) if isinstance(node, (UnionAll, SetOperation)))


def can_be_cast(types: Types) -> bool:
    """Whether our parser writes all of these types as Spark reads them."""
    return all(map(_is_known, types.values()))


def _is_known(type_: str) -> bool:
    if "collate" in type_ or "interval" in type_:
        return False
    try:
        _type(type_)
    except ParseError:
        return False
    return True


def with_branches_cast(root: Node, types: Types) -> Node:
    """The same rows; columns keep their ids, as a cast hands on what it is given."""
    return _cast(root, types) if types else root


def _cast(node: Node, types: Types) -> Node:
    below = tuple(_cast(child, types) for child in node.inputs)
    if isinstance(node, UnionAll):
        return replace(node, branches=tuple(_converted(branch, types) for branch in below))
    if isinstance(node, SetOperation):
        left, right = (_converted(side, types) for side in below)
        return replace(node, left=left, right=right)
    if isinstance(node, Join):
        return replace(node, left=below[0], right=below[1])
    return replace(node, input=below[0]) if isinstance(node, Unary) else node


def _converted(branch: Node, types: Types) -> Node:
    if types.keys().isdisjoint(branch.columns):
        return branch
    return Project(branch, tuple(Item(id_, _typed(id_, types.get(id_))) for id_ in branch.columns))


def _typed(id_: str, type_: str | None) -> exp.Expr:
    return column(id_) if type_ is None else exp.Cast(this=column(id_), to=_type(type_))


def _type(text: str) -> exp.Expr:
    cast: exp.Expr = parsed(f"SELECT CAST(x AS {text})").expressions[0]
    found: exp.Expr = cast.args["to"]
    return found
