"""Columns that are computed once per row: what they are computed from decides nothing else.

A call such as `rand()` or `uuid()` may stand in a view only where it ends in such a column. So the
query is followed from the other columns and the filters to the tables, and whatever they read must
be free of such calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sqlglot import exp

from headwater.define.clock_calls import clock_of
from headwater.define.lowering.expressions import FREE, check_function, function_name
from headwater.define.lowering.lower import Lowered, lower
from headwater.define.lowering.refusal import NotLoweredError
from headwater.vocabulary.algebra import (
    Filter,
    Item,
    Node,
    Project,
    Query,
    Scan,
    UnionAll,
    used_columns,
    walk,
)

_FREE = {"NONDETERMINISTIC", "UNKNOWN_FUNCTION"}


class OnceError(Exception):
    """A column cannot be computed once; `code` is a problem's."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def lower_once(
    text: str,
    catalog: Mapping[str, tuple[str, ...]],
    columns: tuple[str, ...],
    own: Mapping[str, str] | None = None,
    typed: Mapping[str, Mapping[str, str]] | None = None,
) -> Lowered:
    """A query with columns that are computed once; raises OnceError where it cannot be."""
    if not columns:
        return lower(text, catalog, own, typed=typed)

    def free(tree: exp.Expr) -> exp.Expr:
        return _with_free_calls(tree, own or {})

    lowered = lower(text, catalog, own, free, typed)
    if lowered.reasons:
        raise OnceError(
            "ONCE_SHAPE", f"COMPUTE ONCE needs a query that is followed: {lowered.reasons[0]}"
        )
    query = _kept_once(lowered.query, columns, free(lowered.asked.tree))
    bound = {name for node in walk(query.root) for part in _parts(node) for name in _clocks(part)}
    return replace(lowered, query=query, asked=replace(lowered.asked, clocks=tuple(sorted(bound))))


def _clocks(expression: exp.Expr) -> Iterable[str]:
    found = (clock_of(call) for call in expression.find_all(exp.Anonymous))
    return (name for name in found if name is not None)


def _with_free_calls(tree: exp.Expr, own: Mapping[str, str]) -> exp.Expr:
    """A copy in which calls that are no functions of their input are let through lowering."""
    marked = tree.copy()
    for call in marked.find_all(exp.Func):
        try:
            check_function(call)
        except NotLoweredError as refusal:
            if refusal.code in _FREE and call.name.lower() not in own:
                call.meta[FREE] = True
    return marked


def _kept_once(query: Query, columns: Iterable[str], tree: exp.Expr) -> Query:
    """The query if nothing but the columns hangs on free calls, with the clock free in them too."""
    chosen = {name.lower() for name in columns}
    names = query.names
    live = {i for i, n in zip(query.root.columns, names, strict=True) if n.lower() not in chosen}
    root = _kept(query.root, frozenset(live))
    called = [call for node in walk(root) for part in _parts(node) for call in _free(part)]
    if len(called) != sum(1 for _ in _free(tree)):
        raise OnceError("ONCE_SHAPE", "a column computed once is read by another one")
    return replace(query, root=root)


def _kept(node: Node, live: frozenset[str]) -> Node:
    if isinstance(node, Scan):
        return node
    if isinstance(node, Filter):
        _refuse_free(node.predicate, "a filter")
        return replace(node, input=_kept(node.input, live | used_columns(node.predicate)))
    if isinstance(node, Project):
        return _kept_project(node, live)
    if isinstance(node, UnionAll):
        branches = tuple(_kept(b, _renamed(live, node.ids, b.columns)) for b in node.branches)
        return replace(node, branches=branches)
    kind = type(node).__name__.upper()
    raise OnceError("ONCE_SHAPE", f"COMPUTE ONCE needs a query that works row by row, not {kind}")


def _kept_project(node: Project, live: frozenset[str]) -> Node:
    items = []
    for item in node.items:
        if item.id in live:
            _refuse_free(item.expression, "another column")
            items.append(item)
        else:
            items.append(Item(item.id, item.expression.copy().transform(_unbound)))
    read = [used_columns(item.expression) for item in node.items if item.id in live]
    return Project(_kept(node.input, frozenset().union(*read)), tuple(items))


def _renamed(
    live: frozenset[str], ours: tuple[str, ...], theirs: tuple[str, ...]
) -> frozenset[str]:
    return frozenset(t for o, t in zip(ours, theirs, strict=True) if o in live)


def _unbound(node: exp.Expr) -> exp.Expr:
    clock = clock_of(node)
    return node if clock is None else exp.Anonymous(this=clock)


def _refuse_free(expression: exp.Expr, reader: str) -> None:
    for call in _free(expression):
        name = function_name(call)
        message = f"{reader} is computed from {name}, which the sources' rows do not decide"
        raise OnceError("NONDETERMINISTIC", message)


def _free(expression: exp.Expr) -> Iterable[exp.Expr]:
    return (call for call in expression.find_all(exp.Func) if FREE in call.meta)


def _parts(node: Node) -> Iterable[exp.Expr]:
    if isinstance(node, Project):
        return (item.expression for item in node.items)
    return (node.predicate,) if isinstance(node, Filter) else ()
