"""IN over a query where an answer that is not known would be told from a no.

`x IN (SELECT ...)` is NULL if x is not found beside a NULL. Spark shows that as FALSE. But it moves
expressions about before it answers, and where a NOT meets an IN, be it through a column of another
query or as `= false`, it asks NOT IN, whose answer then is no as well:

    SELECT k, k IN (SELECT g FROM s) AS f FROM r               ->  f may be FALSE
    SELECT * FROM (SELECT k IN (...) AS f FROM r) WHERE NOT f  ->  and its row is missing here

Which of both happens is a matter of all rules of Spark's optimizer; so it is asked as a whole. What
is chosen by such an answer (`CASE WHEN k IN (...) THEN 1 ELSE 0 END`) is known again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from headwater.define.lowering.expressions import function_name, is_aggregate
from headwater.define.lowering.free import expressions_of
from headwater.define.lowering.refusal import NotLoweredError
from headwater.vocabulary.algebra import (
    Aggregate,
    Item,
    Node,
    Opaque,
    Project,
    SetOperation,
    UnionAll,
    Window,
    walk,
)

Asked = Callable[[exp.Expr], bool]
"""Whether a part of an expression is such an answer."""

_HANDED_ON = (
    exp.And,
    exp.Case,
    exp.Cast,
    exp.If,
    exp.Or,
    exp.Order,
    exp.Ordered,
    exp.Paren,
    exp.Where,
)

_INSTEAD = {"coalesce", "ifnull", "nvl"}


def refuse_told_apart(expression: exp.Expr, asked: Asked) -> None:
    """Refuse an expression in which NULL and FALSE do not lead to the same, or are not shown."""
    for above, part in (place for places in _places(expression, asked) for place in places):
        is_subject = isinstance(above, exp.Case) and part == "this"
        if is_subject or not (isinstance(above, _HANDED_ON) or _is_choice(above, part)):
            raise NotLoweredError("SUBQUERY", "an IN over a query is asked whether it is false")


def refuse_answers_told_apart(root: Node, answers: frozenset[str]) -> None:
    """Refuse a tree in which a column that shows such an answer is asked; `answers` make it."""
    showing = _showing(root, answers)
    if not showing:
        return
    for node in walk(root):
        for expression in expressions_of(node):
            refuse_told_apart(expression, _is_one_of(showing))


def _places(expression: exp.Expr, asked: Asked) -> Iterator[list[tuple[exp.Expr, str]]]:
    """For every answer, going up: what it is a part of, and as what, until one chooses by it."""
    for found in filter(asked, expression.walk()):
        places, part = [], found
        while part is not expression and part.parent is not None:
            places.append((part.parent, part.arg_key or ""))
            if _is_choice(*places[-1]):
                break
            part = part.parent
        yield places


def _is_choice(above: exp.Expr, part: str) -> bool:
    """Whether a part makes a value that is known, beyond which no NOT is moved to it."""
    if isinstance(above, exp.If):
        return part == "this"
    is_known = isinstance(above, exp.Window) or is_aggregate(above)
    return is_known or (isinstance(above, exp.Func) and function_name(above) in _INSTEAD)


def _is_one_of(ids: frozenset[str]) -> Asked:
    return lambda part: isinstance(part, exp.Column) and part.name in ids


def _showing(node: Node, answers: frozenset[str]) -> frozenset[str]:
    """The columns of a tree that are made of answers."""
    below = [_showing(child, answers) for child in node.inputs]
    found = frozenset[str]().union(*below)
    is_read = _is_one_of(found | answers)
    made = {i.id for i in _items(node) if _shows(i.expression, is_read)} - answers
    if isinstance(node, Opaque) and any(i.args.get("query") for i in node.query.find_all(exp.In)):
        made |= set(node.columns)
    if isinstance(node, (UnionAll, SetOperation)):
        for branch, mine in zip(node.inputs, below, strict=True):
            pairs = zip(branch.columns, node.columns, strict=True)
            made |= {ours for theirs, ours in pairs if theirs in mine}
    return found | made


def _shows(expression: exp.Expr, asked: Asked) -> bool:
    return not all(p and _is_choice(*p[-1]) for p in _places(expression, asked))


def _items(node: Node) -> Iterator[Item]:
    if isinstance(node, (Project, Window)):
        yield from node.items
    if isinstance(node, Aggregate):
        yield from (*node.keys, *node.aggregates)
