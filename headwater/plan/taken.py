"""Values that are a matter of the order in which rows come, such as the first of a group.

Each of them is right, but computed again it may be another one. Where it is shown it is replaced,
with its group or as a row that must be found; where it decides which rows there are, or is added
up, what was once made of it could not be taken back.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.define.lowering.expressions import function_name
from headwater.vocabulary.algebra import Aggregate, Node, walk

_AS_THEY_COME = frozenset(
    "any_value array_agg collect_list first first_value last last_value listagg string_agg".split()
)


def taken_columns(root: Node) -> frozenset[str]:
    """Of all operators below."""
    return frozenset(
        item.id
        for node in walk(root)
        if isinstance(node, Aggregate)
        for item in node.aggregates
        if function_name(item.expression) in _AS_THEY_COME
        and item.expression.find(exp.Order) is None
    )
