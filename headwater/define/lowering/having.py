"""Names in HAVING, which Spark reads in another way than those of other clauses.

Inside an aggregate a name is a column of the rows. Elsewhere it is a column if rows are grouped by
it, and else what the select list calls so:

    SELECT g, sum(v) AS v FROM t GROUP BY g HAVING sum(v) > 1 AND v < 9
      ->  HAVING sum(t.v) > 1 AND sum(t.v) < 9
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sqlglot import exp

from headwater.define.lowering.context import Lowering
from headwater.define.lowering.expressions import is_aggregate, resolve
from headwater.define.lowering.grouping import group_keys
from headwater.define.lowering.refusal import NameProblemError, NotLoweredError
from headwater.define.lowering.scope import Scope
from headwater.define.lowering.selected import Selected
from headwater.vocabulary.algebra import column, used_columns

_SHOWN = "shown "
"""Begins what stands for a column of the result while other names are looked up in the input."""


def having(
    context: Lowering, select: exp.Select, scope: Scope, selected: Selected
) -> exp.Expr | None:
    """The condition on groups, over ids."""
    if select.args.get("having") is None:
        return None
    clause = select.args["having"].copy()
    meant: dict[str, exp.Expr] = {}
    keys = cache(lambda: group_keys(context, scope, select, selected))
    for name in list(clause.find_all(exp.Column)):
        if not _is_read_here(context, name):
            continue
        shown = _shown(name, scope, selected, keys)
        if shown is not None:
            meant[f"{_SHOWN}{name.name.lower()}"] = shown
            name.replace(exp.Var(this=f"{_SHOWN}{name.name.lower()}"))

    def back(part: exp.Expr) -> exp.Expr:
        is_shown = isinstance(part, exp.Var) and part.name in meant
        return exp.Paren(this=meant[part.name].copy()) if is_shown else part

    return resolve(context, clause.this, scope, selected.aliases).transform(back)


def _is_read_here(context: Lowering, name: exp.Column) -> bool:
    """Whether a name may be one of the select list: bare, in no aggregate and in no sub-query."""
    if name.table:
        return False
    above = name.parent
    while above is not None:
        if isinstance(above, exp.Query) or is_aggregate(above) or _is_own(context, above):
            return False
        above = above.parent
    return True


def _is_own(context: Lowering, call: exp.Expr) -> bool:
    """Whether a call is one of the user's own aggregates."""
    return isinstance(call, exp.Anonymous) and context.own.get(call.name.lower()) == "aggregate"


def _shown(
    name: exp.Column, scope: Scope, selected: Selected, keys: Callable[[], list[exp.Expr]]
) -> exp.Expr | None:
    """The value of the select list that a name means; None if it is looked up as elsewhere."""
    try:
        found = scope.find([name.name])
    except NameProblemError:
        return _only_shown(name, selected)
    alias = selected.aliases.get(name.name.lower())
    if found is None or alias is None or alias == column(found[0]):
        return None
    if column(found[0]) in keys():
        return None
    if any(found[0] in used_columns(key) for key in keys()):
        code = "AMBIGUOUS_HAVING"
        raise NotLoweredError(code, f"`{name.name}` in HAVING is alias and part of a key")
    return alias


def _only_shown(name: exp.Column, selected: Selected) -> exp.Expr | None:
    """What answers to a name that several columns of the input have."""
    named = zip(selected.names, selected.expressions, selected.unsure, strict=True)
    found = [e for shown, e, unsure in named if shown.lower() == name.name.lower() and not unsure]
    return found[0] if len(found) == 1 else None
