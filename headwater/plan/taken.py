"""Values that are a matter of the order in which rows come, such as the first of a group.

Each of them is right, but computed again it may be another one. Where it is shown it is replaced,
with its group or as a row that must be found; where it decides which rows there are, or is added
up, what was once made of it could not be taken back.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from headwater.define.as_they_come import Doubt, doubt_of, is_sorting, outermost
from headwater.define.lowering.expressions import function_name
from headwater.vocabulary.algebra import Aggregate, Filter, Item, Node, Opaque, Pivot, Project, walk


def taken_columns(root: Node) -> frozenset[str]:
    """Of all operators below."""
    nodes = list(walk(root))
    taken = {id_ for node in nodes for id_ in _taken(node)}
    for node in nodes:
        if isinstance(node, Project):
            taken -= _sorted_again(node)
    return frozenset(taken)


def _taken(node: Node) -> Iterator[str]:
    if isinstance(node, Aggregate):
        yield from (item.id for item in node.aggregates if _doubt(item) is not None)
    elif isinstance(node, Pivot):
        yield from node.ids if any(map(_doubt, node.aggregates)) else ()
    elif isinstance(node, Opaque):
        yield from node.ids if _is_taking(node.query) else ()


def _doubt(item: Item) -> Doubt | None:
    return doubt_of(function_name(item.expression) or "", item.expression)


def _is_taking(text: exp.Expr) -> bool:
    for call in text.find_all(exp.Func):
        whole = outermost(call)
        is_window = isinstance(whole.parent, exp.Window)
        if not is_window and doubt_of(function_name(call) or "", whole) is not None:
            return True
    return False


def _sorted_again(project: Project) -> frozenset[str]:
    """Lists of the groups right below that are only asked for what their order does not tell."""
    below, asking = project.input, [item.expression for item in project.items]
    while isinstance(below, Filter):
        asking.append(below.predicate)
        below = below.input
    if not isinstance(below, Aggregate):
        return frozenset()
    lists = {item.id for item in below.aggregates if _doubt(item) is Doubt.ROWS}
    columns = [column for asked in asking for column in asked.find_all(exp.Column)]
    return frozenset(lists - {column.name for column in columns if not _is_sorted(column)})


def _is_sorted(column: exp.Expr) -> bool:
    above = column.parent
    return above is not None and is_sorting(function_name(above) or "", above)
