"""Which columns a tree reads that it does not make: those of the row around a sub-query."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from sqlglot import exp

from headwater.vocabulary.algebra import (
    Aggregate,
    Filter,
    Generate,
    Join,
    Node,
    Pivot,
    Project,
    TopK,
    Window,
    used_columns,
    walk,
)


def free_columns(node: Node) -> tuple[str, ...]:
    """Ids that are read somewhere in a tree and made nowhere in it, in the order of reading."""
    made = {id_ for below in walk(node) for id_ in below.columns}
    read = dict.fromkeys(
        id_ for below in walk(node) for e in expressions_of(below) for id_ in _ids(e)
    )
    return tuple(id_ for id_ in read if id_ not in made)


def is_closed(node: Node, outside: frozenset[str]) -> bool:
    """Whether nothing in a tree reads one of these ids."""
    return not any(used_columns(e) & outside for below in walk(node) for e in expressions_of(below))


def _ids(expression: exp.Expr) -> Iterator[str]:
    return (found.name for found in expression.find_all(exp.Column))


@singledispatch
def expressions_of(node: Node) -> tuple[exp.Expr, ...]:
    """What an operator itself computes from columns."""
    return ()


@expressions_of.register
def _filter(node: Filter) -> tuple[exp.Expr, ...]:
    return (node.predicate,)


@expressions_of.register
def _items(node: Project) -> tuple[exp.Expr, ...]:
    return tuple(item.expression for item in node.items)


@expressions_of.register
def _window(node: Window) -> tuple[exp.Expr, ...]:
    return tuple(item.expression for item in node.items)


@expressions_of.register
def _join(node: Join) -> tuple[exp.Expr, ...]:
    return (node.on,) if node.on is not None else ()


@expressions_of.register
def _aggregate(node: Aggregate) -> tuple[exp.Expr, ...]:
    return tuple(item.expression for item in (*node.keys, *node.aggregates))


@expressions_of.register
def _generate(node: Generate) -> tuple[exp.Expr, ...]:
    return (node.generator,)


@expressions_of.register
def _top_k(node: TopK) -> tuple[exp.Expr, ...]:
    return node.order


@expressions_of.register
def _pivot(node: Pivot) -> tuple[exp.Expr, ...]:
    return tuple(item.expression for item in node.aggregates)
