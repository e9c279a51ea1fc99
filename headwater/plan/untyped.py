"""NULLs without a type, such as that of `SELECT NULL AS x`.

No join of Spark finds rows by such a column, not even by `<=>`. Nothing may be kept by a key that
has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headwater.define.lowering.free import expressions_of
from headwater.vocabulary.algebra import (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Node,
    Pivot,
    Project,
    SetOperation,
    used_columns,
    walk,
)

_UNTYPED = "void"
_ROW_BY_ROW = (Aggregate, Filter, Generate, Project)
"""Rows are not looked up by what these compute; an aggregate's keys are its own columns."""


def untyped_key(root: Node, types: Mapping[str, str]) -> str | None:
    """A column without a type by which rows are found somewhere in a tree."""
    found = (
        f"{id_} {_UNTYPED}"
        for node in walk(root)
        for id_ in _compared(node)
        if types.get(id_) == _UNTYPED
    )
    return next(found, None)


def _compared(node: Node) -> Iterator[str]:
    if isinstance(node, (Distinct, SetOperation)):
        yield from node.columns
        yield from (id_ for below in node.inputs for id_ in below.columns)
    elif isinstance(node, Aggregate):
        yield from (key.id for key in node.keys)
    elif isinstance(node, Pivot):
        yield from (*node.groups, *node.on)
    elif not isinstance(node, _ROW_BY_ROW):
        yield from (id_ for expression in expressions_of(node) for id_ in used_columns(expression))
