"""Expressions: names to ids, and what kind of function each call is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sqlglot import exp

from headwater.define.clock_calls import clock_of, is_special_word
from headwater.define.lowering import functions
from headwater.define.lowering.context import Lowering
from headwater.define.lowering.misread import refuse_misread
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.scope import Scope, resolve_column, unknown_column
from headwater.define.lowering.stars import with_stars
from headwater.define.lowering.subquery import Sub, inward, is_subquery, needles_of, sub
from headwater.vocabulary.dialect import written

_CALL = re.compile(r"([A-Za-z_][A-Za-z_0-9]*)(\(|$)")

_SYNTAX = frozenset(
    """
    cast try_cast case extract if in exists struct array map named_struct interval trim overlay
    position substring not and or xor between like ilike rlike regexp timestampdiff timestampadd
    datediff dateadd date_diff date_add try_to_timestamp to_timestamp to_date
    """.split()
)
"""Calls that are written as syntax; all of them work row by row."""

FREE = "once"
"""In a call's `meta`: it may be no function of its input, see `once.py`."""

SESSION = "session"
"""In a call's `meta`: its SELECT groups by it, see `sessions.py`."""

_AGGREGATE_WRAPPERS = (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)


def function_name(node: exp.Expr) -> str | None:
    """The Spark name of a call, in lower case; None if it is written as an operator."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower()
    if isinstance(node, exp.Binary):  # sqlglot counts `sum(a) > 1 AND b` among the functions
        return None
    if node.find(Sub):
        node = node.transform(lambda part: exp.null() if isinstance(part, Sub) else part)
    matched = _CALL.match(written(node))
    return matched.group(1).lower() if matched else None


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is one aggregate call, its FILTER or null treatment included."""
    if isinstance(node, _AGGREGATE_WRAPPERS):
        return is_aggregate(node.this)
    if not isinstance(node, exp.Func) or isinstance(node, exp.Window):
        return False
    return isinstance(node, exp.AggFunc) or function_name(node) in functions.AGGREGATES


def contains_aggregate(node: exp.Expr) -> bool:
    """Whether an aggregate of the group is computed anywhere in an expression."""
    found: list[exp.Expr] = []
    replace_aggregates(node, lambda call: found.append(call) or call)  # type: ignore[func-returns-value]
    return bool(found)


def replace_aggregates(node: exp.Expr, replacement: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """A copy in which every aggregate of the group is replaced; window functions are not one."""
    if isinstance(node, exp.Window):
        return _over_children(node, lambda child: _inside_window(child, node, replacement))
    if isinstance(node, exp.Query):
        return node.copy()
    if is_aggregate(node):
        return replacement(node)
    return _over_children(node, lambda child: replace_aggregates(child, replacement))


def _inside_window(
    child: exp.Expr,
    window: exp.Window,
    replacement: Callable[[exp.Expr], exp.Expr],
) -> exp.Expr:
    """The windowed function itself stays; aggregates in its arguments and keys are the group's."""
    if child is window.this:
        function = child
        if isinstance(function, _AGGREGATE_WRAPPERS):
            return _over_children(
                function, lambda inner: _inside_window(inner, _as_window(function), replacement)
            )
        return _over_children(child, lambda inner: replace_aggregates(inner, replacement))
    return replace_aggregates(child, replacement)


def _as_window(wrapper: exp.Expr) -> exp.Window:
    return wrapper  # type: ignore[return-value]


def _over_children(node: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    copied = node.copy()
    for key, value in node.args.items():
        if isinstance(value, exp.Expr):
            copied.set(key, change(value))
        elif isinstance(value, list):
            copied.set(key, [change(v) if isinstance(v, exp.Expr) else v for v in value])
    return copied


def check_function(node: exp.Expr) -> None:
    """Refuse calls whose value is not a function of the row alone, or that are unknown."""
    if not isinstance(node, exp.Func) or isinstance(node, exp.AggFunc) or _passes(node):
        return
    name = function_name(node)
    if is_special_word(node) or (name == "unix_timestamp" and not list(node.iter_expressions())):
        raise NotLoweredError("CLOCK_DEPENDENT", f"{written(node)} reads the clock")
    if name == "session_window" and SESSION not in node.meta:
        raise NotLoweredError("SESSION_WINDOW", "where a session ends is a matter of other rows")
    if name in {"window", "window_time"}:
        raise NotLoweredError("TIME_WINDOW", "a row may fall into several time windows")
    if name is None or name in functions.SCALARS or name in functions.AGGREGATES:
        return
    if name in functions.NONDETERMINISTIC:
        raise NotLoweredError("NONDETERMINISTIC", f"{name} is not a function of its input")
    if name in functions.CLOCK:
        raise NotLoweredError("CLOCK_DEPENDENT", f"{name} reads the clock")
    if name in functions.GENERATORS:
        raise NotLoweredError("GENERATOR", f"{name} stands where one value is expected")
    if name not in functions.RANKINGS and name not in _SYNTAX:
        raise NotLoweredError("UNKNOWN_FUNCTION", f"{name} is not a built-in function of Spark")


def _passes(call: exp.Expr) -> bool:
    return clock_of(call) is not None or FREE in call.meta


def unknown_calls(tree: exp.Expr) -> tuple[str, ...]:
    """The functions a query calls that are not built into Spark, in lower case."""
    found: dict[str, None] = {}
    for call in tree.find_all(exp.Anonymous):
        try:
            check_function(call)
        except NotLoweredError as refusal:
            if refusal.code == "UNKNOWN_FUNCTION":
                found[call.name.lower()] = None
    return tuple(found)


def resolve(
    context: Lowering,
    expression: exp.Expr,
    scope: Scope,
    aliases: Mapping[str, exp.Expr] | None = None,
) -> exp.Expr:
    """A copy over ids. `aliases` answer only to names that the scope does not know.

    Sub-queries become `Sub` nodes; whoever knows the rows around them attaches them.
    """

    def over_ids(node: exp.Expr) -> exp.Expr:
        if is_subquery(node):
            needles = [resolve(context, n, scope, aliases) for n in needles_of(node)]
            return sub(context, node, scope, needles)
        if isinstance(node, (exp.Parameter, exp.Placeholder, exp.SessionParameter)):
            raise NotLoweredError("PARAMETER", "the query has a parameter")
        if isinstance(node, exp.Anonymous) and node.name.lower() in context.own:
            return _own(context, node, scope, aliases)
        if _is_star(node):
            raise NotLoweredError("STAR", "a star inside a function")
        if _names_fields(node):
            raise NotLoweredError("NAMES_UNCLEAR", "fields that are called after columns")
        check_function(node)
        if isinstance(node, exp.Column):
            found = _resolved(node, scope, aliases or {})
            return exp.alias_(found, node.name, quoted=True) if _names_field(node) else found
        return node

    refuse_misread(expression)
    return with_stars(context, inward(expression), scope).transform(over_ids)


def _is_star(node: exp.Expr) -> bool:
    """All columns as arguments; the star of count(*) alone means rows, not columns."""
    if isinstance(node, exp.Column):
        return isinstance(node.this, exp.Star)
    return isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count)


def _names_fields(node: exp.Expr) -> bool:
    """A struct whose fields get the names of columns, which have other names here."""
    return isinstance(node, exp.Anonymous) and node.name.lower() == "arrays_zip"


def _names_field(node: exp.Column) -> bool:
    """struct(k), and (k, g) for short, call a field k, whatever the column is called here."""
    parent = node.parent
    if isinstance(parent, exp.Tuple):
        return _is_struct(parent)
    return isinstance(parent, exp.Anonymous) and parent.name.lower() == "struct"


def _is_struct(row: exp.Expr) -> bool:
    """Whether a row in brackets is a value of its own, not a side of a comparison."""
    while isinstance(row.parent, exp.Tuple):
        row = row.parent
    return not isinstance(row.parent, (exp.In, exp.Predicate))


def _own(
    context: Lowering,
    node: exp.Anonymous,
    scope: Scope,
    aliases: Mapping[str, exp.Expr] | None,
) -> exp.Expr:
    """A call of a function that the user registered; an aggregate one is marked as such."""
    arguments = [resolve(context, argument, scope, aliases) for argument in node.expressions]
    kind = context.own[node.name.lower()]
    call = exp.AnonymousAggFunc if kind == "aggregate" else exp.Anonymous
    return call(this=node.this, expressions=arguments)


def _resolved(node: exp.Column, scope: Scope, aliases: Mapping[str, exp.Expr]) -> exp.Expr:
    here: Scope | None = scope
    while here is not None:
        resolved = resolve_column(node, here)
        if resolved is not None:
            return resolved
        if _may_be_made_up(node, here):
            break
        if here is scope and node.parts[0].name.lower() in aliases:
            return _of_alias(node, aliases)
        here = here.outer
    raise unknown_column(node, scope)


def _of_alias(node: exp.Column, aliases: Mapping[str, exp.Expr]) -> exp.Expr:
    """An earlier item of the select list, or a field of it."""
    first, *fields = (part.name for part in node.parts)
    found: exp.Expr = exp.Paren(this=aliases[first.lower()].copy())
    for field in fields:
        found = exp.Dot(this=found, expression=exp.to_identifier(field, quoted=True))
    return found


def _may_be_made_up(node: exp.Column, scope: Scope) -> bool:
    """Whether a column of the scope has a name that only Spark knows, and this may be it."""
    relation = node.parts[0].name.lower() if node.table else None
    unsure = [entry for entry in scope.entries if not entry.sure]
    return any(relation in (None, (entry.relation or "").lower()) for entry in unsure)


def conjuncts(predicate: exp.Expr | None) -> list[exp.Expr]:
    """The parts of a condition that must all hold."""
    if predicate is None:
        return []
    if isinstance(predicate, exp.Paren) and isinstance(predicate.this, (exp.And, exp.Paren)):
        return conjuncts(predicate.this)
    if isinstance(predicate, exp.And):
        return conjuncts(predicate.left) + conjuncts(predicate.right)
    return [predicate]


def all_of(parts: list[exp.Expr]) -> exp.Expr | None:
    """One condition from its conjuncts; None for none."""
    if not parts:
        return None
    wrapped = [p.copy() if isinstance(p, exp.Paren) else exp.Paren(this=p.copy()) for p in parts]
    return exp.and_(*wrapped, copy=False)
