"""A whole query: CTEs, set operations, and what to do with parts that are not understood.

A SELECT that no rule understands becomes one `Opaque` operator: its text, run as it is. Everything
around it is still lowered, so an unusual corner costs only its own sub-tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from headwater.define.lowering.context import Lowering
from headwater.define.lowering.prune import pruned
from headwater.define.lowering.refusal import (
    NameProblem,
    NameProblemError,
    NotLoweredError,
)
from headwater.define.lowering.scope import Entry, Scope
from headwater.define.lowering.select import select_query
from headwater.vocabulary.algebra import (
    Distinct,
    Node,
    Opaque,
    Query,
    Scan,
    SetOperation,
    UnionAll,
    walk,
)
from headwater.vocabulary.dialect import parsed
from headwater.vocabulary.reason import Reason


@dataclass(frozen=True)
class Lowered:
    """A query's operators, the parts kept as text with their reasons, and names not found."""

    query: Query
    reasons: tuple[Reason, ...]
    problems: tuple[NameProblem, ...]


def lower(text: str, catalog: Mapping[str, tuple[str, ...]]) -> Lowered:
    """Lower a query over sources given by name -> columns (names in lower case)."""
    tree = parsed(text)
    context = Lowering(catalog, lower_query)
    try:
        node, scope = lower_query(context, tree, None)
    except NotLoweredError as refusal:
        node, scope = _whole(context, tree, refusal)
    root = pruned(node)
    kept = [n for n in walk(root) if isinstance(n, Opaque) and n.scans]
    reasons = tuple(Reason(*n.reason.split(": ", 1)) for n in kept)
    names = tuple(entry.name for entry in scope.star())
    return Lowered(Query(root, names), reasons, tuple(context.problems))


def lower_query(context: Lowering, tree: exp.Expr, outer: Scope | None) -> tuple[Node, Scope]:
    """Any query expression."""
    inside = context.with_ctes(_ctes(tree))
    if isinstance(tree, exp.Subquery):
        node, scope = lower_query(inside, tree.this, outer)
        return node, scope.renamed(tree.alias or None)
    if isinstance(tree, (exp.Union, exp.Except, exp.Intersect)):
        return _set_operation(inside, tree, outer)
    if not isinstance(tree, exp.Select):
        raise NotLoweredError("QUERY", f"a query of the kind {type(tree).__name__}")
    try:
        return select_query(inside, tree, outer)
    except NotLoweredError as refusal:
        if isinstance(refusal, NameProblemError):
            context.problems.append(refusal.problem)
        return opaque(inside, tree, refusal)


def _ctes(tree: exp.Expr) -> list[exp.CTE]:
    clause = tree.args.get("with_")
    if clause is None:
        return []
    if clause.args.get("recursive"):
        raise NotLoweredError("RECURSIVE", "a recursive CTE")
    return list(clause.expressions)


def _set_operation(
    context: Lowering, tree: exp.SetOperation, outer: Scope | None
) -> tuple[Node, Scope]:
    if tree.args.get("by_name") or tree.args.get("limit") or tree.args.get("offset"):
        raise NotLoweredError("SET_CLAUSE", "BY NAME or LIMIT on a set operation")
    left, left_scope = lower_query(context, tree.left, outer)
    right, right_scope = lower_query(context, tree.right, outer)
    left_names = [entry.name for entry in left_scope.star()]
    if len(left_names) != len(right_scope.star()) or len(left.columns) != len(right.columns):
        raise NotLoweredError("SET_WIDTH", "sides of a set operation with other column counts")
    ids = tuple(context.fresh(name) for name in left_names)
    node = _combined(tree, left, right, ids)
    return node, Scope(tuple(Entry(n, i, None) for n, i in zip(left_names, ids, strict=True)))


def _combined(tree: exp.SetOperation, left: Node, right: Node, ids: tuple[str, ...]) -> Node:
    distinct = tree.args.get("distinct") is not False
    if isinstance(tree, exp.Union):
        union = UnionAll((left, right), ids)
        return Distinct(union) if distinct else union
    operator = "EXCEPT" if isinstance(tree, exp.Except) else "INTERSECT"
    return SetOperation(left, right, operator, not distinct, ids)


def opaque(context: Lowering, tree: exp.Select, refusal: NotLoweredError) -> tuple[Node, Scope]:
    """The SELECT as text; its result's columns are known by position."""
    names = _shown_names(tree, refusal)
    query, leaves = _over_leaves(context, tree)
    ids = tuple(context.fresh(name) for name in names)
    node = Opaque(query, leaves, ids, f"{refusal.code}: {refusal.text}")
    return node, Scope(tuple(Entry(n, i, None) for n, i in zip(names, ids, strict=True)))


def _shown_names(tree: exp.Select, refusal: NotLoweredError) -> list[str]:
    names: list[str] = []
    for index, written in enumerate(tree.expressions):
        if written.is_star or isinstance(written, exp.Aliases):
            raise refusal
        names.append(_shown_name(written) or f"_c{index}")
    return names


def _shown_name(written: exp.Expr) -> str:
    named = isinstance(written, (exp.Alias, exp.Column, exp.Dot))
    return written.alias_or_name if named else ""


def _whole(context: Lowering, tree: exp.Expr, refusal: NotLoweredError) -> tuple[Node, Scope]:
    """The whole view as text; nobody above it needs to know its columns."""
    if isinstance(refusal, NameProblemError):
        context.problems.append(refusal.problem)
    query, leaves = _over_leaves(context, tree)
    return Opaque(query, leaves, (), f"{refusal.code}: {refusal.text}"), Scope()


def _over_leaves(context: Lowering, tree: exp.Expr) -> tuple[exp.Expr, tuple[Scan, ...]]:
    """A copy that names its tables `leaf_<n>` and carries the CTEs it needs."""
    copied = tree.copy()
    found: dict[str, Scan] = {}
    outer_ctes = [cte.copy() for cte in context.ctes]
    own = {cte.alias.lower() for cte in _all_ctes(copied)}
    needed = [cte for cte in outer_ctes if cte.alias.lower() not in own]
    if needed:
        clause = copied.args.get("with_") or exp.With(expressions=[])
        clause.set("expressions", needed + clause.expressions)
        copied.set("with_", clause)
    hidden = own | {cte.alias.lower() for cte in needed}
    for table in list(copied.find_all(exp.Table)):
        name = table.name.lower()
        if name in hidden or name not in context.catalog or table.args.get("db"):
            continue
        if name not in found:
            found[name] = context.scan(name, name)[0]
        if not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name, quoted=True)))
        table.set("this", exp.to_identifier(f"leaf_{found[name].leaf}"))
    return copied, tuple(found.values())


def _all_ctes(tree: exp.Expr) -> list[exp.CTE]:
    return list(tree.find_all(exp.CTE))
