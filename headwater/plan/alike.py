"""Whether two parts of a query are the same but for the ids of their columns.

A WITH name that is used twice stands in the tree twice, each time with ids of its own. What is
alike computes the same rows from the same tables, so its change need be made only once.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields

from sqlglot import exp

from headwater.vocabulary.algebra import (
    Filter,
    Generate,
    Item,
    Node,
    Opaque,
    Project,
    Scan,
    UnionAll,
    column,
    walk,
)
from headwater.vocabulary.dialect import written as text

_CHEAP = (Scan, Filter, Project, Generate, UnionAll)
"""What is made of these alone is sooner made again than kept."""

Numbers = dict[str, int]
"""Column ids -> their places in the order in which they are met."""


def likeness(node: Node) -> Hashable | None:
    """Equal for parts that are alike; None for those not worth keeping."""
    if all(isinstance(found, _CHEAP) for found in walk(node)):
        return None
    return _of_node(node, {})


def _of_node(node: Node, numbers: Numbers) -> Hashable:
    if isinstance(node, Opaque):
        return id(node)  # its text names its own leaves
    if isinstance(node, Scan):
        return (node.source, tuple((name, _numbered(id_, numbers)) for name, id_ in node.fields))
    inputs = tuple(_of_node(below, numbers) for below in node.inputs)
    for id_ in node.columns:
        _numbered(id_, numbers)
    own = tuple(_of_value(getattr(node, field.name), numbers) for field in fields(node))
    return (type(node).__name__, inputs, own)


def _of_value(value: object, numbers: Numbers) -> Hashable:
    """A field of an operator; its inputs are told by `_of_node`."""
    if isinstance(value, Node):
        return None
    if isinstance(value, tuple):
        return tuple(_of_value(inner, numbers) for inner in value)
    if isinstance(value, Item):
        return (_of_value(value.id, numbers), _of_value(value.expression, numbers))
    if isinstance(value, exp.Expr):
        return text(value.transform(lambda found: _renamed(found, numbers)))
    return numbers.get(value, value) if isinstance(value, str) else repr(value)


def _renamed(found: exp.Expr, numbers: Numbers) -> exp.Expr:
    if isinstance(found, exp.Column) and found.name in numbers:
        return column(f"#{numbers[found.name]}")
    return found


def _numbered(id_: str, numbers: Numbers) -> int:
    return numbers.setdefault(id_, len(numbers))
