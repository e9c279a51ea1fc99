"""A whole query: CTEs, set operations, and what to do with parts that are not understood.

A SELECT that no rule understands becomes one `Opaque` operator: its text, run as it is. Everything
around it is still lowered, so an unusual corner costs only its own sub-tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from headwater.define.clock_calls import ClockCalls, clock_calls
from headwater.define.lowering.context import Lowering
from headwater.define.lowering.kept import kept_select, kept_whole
from headwater.define.lowering.ordering import is_limited, limited_result
from headwater.define.lowering.prune import pruned
from headwater.define.lowering.push import pushed
from headwater.define.lowering.refusal import (
    NameProblem,
    NameProblemError,
    NotLoweredError,
)
from headwater.define.lowering.scope import Entry, Scope
from headwater.define.lowering.select import select_query
from headwater.define.lowering.tables import values
from headwater.define.lowering.unknown import refuse_answers_told_apart
from headwater.vocabulary.algebra import (
    Distinct,
    Node,
    Opaque,
    Project,
    Query,
    SetOperation,
    UnionAll,
    passed,
    walk,
)
from headwater.vocabulary.reason import Reason

_MISREAD = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a tree of an unknown form makes our reading stumble over; the view is then kept as text."""


@dataclass(frozen=True)
class Lowered:
    """A query's operators, the parts kept as text with their reasons, and names not found."""

    query: Query
    reasons: tuple[Reason, ...]
    problems: tuple[NameProblem, ...]
    asked: ClockCalls  # the text, what it asks the clock marked
    sure: tuple[bool, ...] = ()  # of each name, whether it is not one that Spark makes up


def lower(
    text: str,
    catalog: Mapping[str, tuple[str, ...]],
    own: Mapping[str, str] | None = None,
    free: Callable[[exp.Expr], exp.Expr] = lambda tree: tree,
    typed: Mapping[str, Mapping[str, str]] | None = None,
) -> Lowered:
    """Lower a query over sources given by name -> columns (names in lower case).

    `own` are the user's functions that may be followed: name -> scalar or aggregate; `free` lets
    calls pass that are no functions of their input; `typed` are the types of sources' columns.
    """
    asked = clock_calls(text, (column for columns in catalog.values() for column in columns))
    tree = free(asked.tree)
    context = Lowering(catalog, lower_query, own or {}, typed=typed or {})
    node, scope = _followed_or_whole(context, tree)
    root = pruned(pushed(node))
    kept = [n for n in walk(root) if isinstance(n, Opaque) and not n.reason.startswith("VALUES")]
    reasons = tuple(dict.fromkeys(Reason(*n.reason.split(": ", 1)) for n in kept))
    names = tuple(entry.name for entry in scope.star())
    sure = tuple(entry.sure for entry in scope.star())
    return Lowered(Query(root, names), reasons, tuple(context.problems), asked, sure)


def _followed_or_whole(context: Lowering, tree: exp.Expr) -> tuple[Node, Scope]:
    try:
        found = lower_query(context, tree, None)
        refuse_answers_told_apart(found[0], frozenset(context.answers))
    except NotLoweredError as refusal:
        return kept_whole(context, tree, refusal)
    except _MISREAD as surprise:
        unread = NotLoweredError("QUERY", f"a form that was not foreseen: {surprise}")
        return kept_whole(context, tree, unread)
    return found


def lower_query(context: Lowering, tree: exp.Expr, outer: Scope | None) -> tuple[Node, Scope]:
    """Any query expression."""
    if _is_recursive(tree):
        return _kept(context, tree, outer, NotLoweredError("RECURSIVE", "a recursive CTE"))
    inside = context.with_ctes(_ctes(tree))
    if isinstance(tree, exp.Subquery):
        if any(tree.args.get(clause) for clause in ("joins", "laterals", "pivots", "sample")):
            raise NotLoweredError("TABLE_EXPRESSION", "a join in brackets under one name")
        node, scope = lower_query(inside, tree.this, outer)
        scope = scope.renamed(tree.alias or None)
        return limited_result(inside, tree, node, scope), scope
    if isinstance(tree, (exp.Union, exp.Except, exp.Intersect)):
        return _set_operation(inside, tree, outer)
    if isinstance(tree, exp.Values):
        if is_limited(tree):
            raise NotLoweredError("LIMIT", "first rows of constant rows")
        return values(inside, tree)
    if not isinstance(tree, exp.Select):
        raise NotLoweredError("QUERY", f"a query of the kind {type(tree).__name__}")
    try:
        return select_query(inside, tree, outer)
    except NotLoweredError as refusal:
        return _kept(context, tree, outer, refusal)


def _kept(
    context: Lowering, tree: exp.Expr, outer: Scope | None, refusal: NotLoweredError
) -> tuple[Node, Scope]:
    """A SELECT as text, unless it may name the row around it: then that one is kept, too."""
    if isinstance(refusal, NameProblemError) and refusal.problem not in context.problems:
        context.problems.append(refusal.problem)
    if outer is not None or not isinstance(tree, exp.Select):
        raise refusal
    return kept_select(context, tree, refusal)


def _is_recursive(tree: exp.Expr) -> bool:
    clause = tree.args.get("with_")
    return clause is not None and bool(clause.args.get("recursive"))


def _ctes(tree: exp.Expr) -> list[exp.CTE]:
    clause = tree.args.get("with_")
    return list(clause.expressions) if clause is not None else []


def _set_operation(
    context: Lowering, tree: exp.SetOperation, outer: Scope | None
) -> tuple[Node, Scope]:
    if tree.args.get("by_name"):
        raise NotLoweredError("SET_CLAUSE", "BY NAME on a set operation")
    left, left_scope = lower_query(context, tree.left, outer)
    right, right_scope = lower_query(context, tree.right, outer)
    left_names = [entry.name for entry in left_scope.star()]
    if len(left_names) != len(right_scope.star()):
        raise NotLoweredError("SET_WIDTH", "sides of a set operation with other column counts")
    left, right = _shown(left, left_scope), _shown(right, right_scope)
    ids = tuple(context.fresh(name) for name in left_names)
    named = zip(left_scope.star(), ids, strict=True)
    scope = Scope(tuple(Entry(e.name, i, None, sure=e.sure) for e, i in named))
    return limited_result(context, tree, _combined(tree, left, right, ids), scope), scope


def _shown(node: Node, scope: Scope) -> Node:
    """Exactly the columns in scope, in their order."""
    ids = tuple(entry.id for entry in scope.star())
    if node.columns == ids:
        return node
    return Project(node, passed(ids))


def _combined(tree: exp.SetOperation, left: Node, right: Node, ids: tuple[str, ...]) -> Node:
    distinct = tree.args.get("distinct") is not False
    if isinstance(tree, exp.Union):
        union = UnionAll((left, right), ids)
        return Distinct(union) if distinct else union
    operator = "EXCEPT" if isinstance(tree, exp.Except) else "INTERSECT"
    return SetOperation(left, right, operator, not distinct, ids)
