"""Aggregates in the plainest words that mean the same, so that more of them can be merged.

sum(x) FILTER (WHERE p)   ->  sum(CASE WHEN p THEN x END)
count(*) FILTER (WHERE p) ->  count(CASE WHEN p THEN 1 END)
count_if(p)               ->  count(CASE WHEN p THEN 1 END)
bool_or(p), bool_and(p)   ->  max(p), min(p)
mean(x)                   ->  avg(x)
"""

from __future__ import annotations

from sqlglot import exp

from headwater.define.lowering.expressions import function_name

_KNOWN = (exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Count)
_EITHER = {"bool_or", "some", "any"}
_BOTH = {"bool_and", "every"}


def plain(call: exp.Expr) -> exp.Expr:
    """The same aggregate without FILTER where that is possible."""
    if isinstance(call, exp.Filter):
        return _unfiltered(call)
    arguments = call.expressions if isinstance(call, exp.Anonymous) else []
    if len(arguments) != 1 or arguments[0].find(exp.Distinct):
        return call
    name, argument = function_name(call), arguments[0]
    if name == "count_if":
        return exp.Count(this=_case(argument, exp.Literal.number(1)), big_int=True)
    if name in _EITHER:
        return exp.Max(this=argument.copy())
    if name in _BOTH:
        return exp.Min(this=argument.copy())
    return exp.Avg(this=argument.copy()) if name == "mean" else call


def _unfiltered(call: exp.Filter) -> exp.Expr:
    inner, condition = plain(call.this), call.expression.this
    if not isinstance(inner, _KNOWN) or inner.expressions or isinstance(inner.this, exp.Distinct):
        return call
    value = exp.Literal.number(1) if isinstance(inner.this, exp.Star) else inner.this
    changed = inner.copy()
    changed.set("this", _case(condition, value))
    return changed


def _case(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=value.copy())])
