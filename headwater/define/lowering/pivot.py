"""PIVOT, which stays an operator of its own, and UNPIVOT, which is a generator.

UNPIVOT (val FOR name IN (a, b))  ->  explode([('a', a), ('b', b)]), rows with NULL left out
"""

from __future__ import annotations

from sqlglot import exp

from headwater.define.lowering.attach import refuse_left
from headwater.define.lowering.context import Lowering
from headwater.define.lowering.expressions import contains_aggregate, resolve
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.scope import Entry, Scope
from headwater.vocabulary.algebra import (
    Filter,
    Generate,
    Item,
    Node,
    Pivot,
    Project,
    column,
    passed,
    used_columns,
)
from headwater.vocabulary.dialect import written


def pivoted(context: Lowering, node: Node, scope: Scope, item: exp.Expr) -> tuple[Node, Scope]:
    """A relation after its PIVOT and UNPIVOT clauses."""
    for clause in item.args.get("pivots") or []:
        change = _unpivot if clause.args.get("unpivot") else _pivot
        node, scope = change(context, node, scope, clause)
        alias = clause.args.get("alias")
        if alias is not None:
            scope = scope.renamed(alias.name, tuple(c.name for c in alias.columns))
    return node, scope


def _pivot(context: Lowering, node: Node, scope: Scope, clause: exp.Pivot) -> tuple[Node, Scope]:
    """Every column that is neither aggregated nor pivoted on is a group column."""
    field = _only_field(clause)
    on = [resolve(context, c, scope) for c in _several(field.this)]
    if not all(isinstance(c, exp.Column) for c in on):
        raise NotLoweredError("PIVOT", "PIVOT on an expression")
    aggregates, names = [], []
    for written_call in clause.expressions:
        call = written_call.this if isinstance(written_call, exp.Alias) else written_call
        resolved = resolve(context, call, scope)
        refuse_left(resolved)
        if not contains_aggregate(resolved):
            raise NotLoweredError("PIVOT", "PIVOT without an aggregate")
        aggregates.append(Item(context.fresh("agg"), resolved))
        names.append(written_call.alias if isinstance(written_call, exp.Alias) else None)
    used = {c.name for c in on} | {i for a in aggregates for i in used_columns(a.expression)}
    groups = [entry for entry in scope.star() if entry.id not in used]
    labels = [_label(v, n, len(aggregates)) for v in field.expressions for n in names]
    ids = tuple(context.fresh(label) for label in labels)
    values = tuple(_value(v) for v in field.expressions)
    pivot = Pivot(
        Project(node, passed(tuple(e.id for e in scope.star()))),
        tuple(entry.id for entry in groups),
        tuple(c.name for c in on),
        values,
        tuple(aggregates),
        ids,
    )
    made = [Entry(label, id_, None) for label, id_ in zip(labels, ids, strict=True)]
    return pivot, Scope((*(Entry(e.name, e.id, None) for e in groups), *made), scope.outer)


def _only_field(clause: exp.Pivot) -> exp.In:
    fields = clause.args.get("fields") or []
    if len(fields) != 1 or not isinstance(fields[0], exp.In) or clause.args.get("group"):
        raise NotLoweredError("PIVOT", "a form of PIVOT that no law covers")
    return fields[0]


def _several(written_part: exp.Expr) -> list[exp.Expr]:
    if isinstance(written_part, exp.Tuple):
        return list(written_part.expressions)
    return [written_part.this if isinstance(written_part, exp.Paren) else written_part]


def _value(written_value: exp.Expr) -> exp.Expr:
    value = written_value.this if isinstance(written_value, exp.PivotAlias) else written_value
    if value.find(exp.Column, exp.Query):
        raise NotLoweredError("PIVOT", "a PIVOT value that is not a constant")
    return value.copy()


def _label(value: exp.Expr, aggregate: str | None, count: int) -> str:
    """Spark's name for a column; the view's own names come from Spark's analysis."""
    if isinstance(value, exp.PivotAlias):
        plain = str(value.args["alias"].name)
    elif isinstance(value, exp.Literal):
        plain = value.name
    else:
        raise NotLoweredError("PIVOT", f"the PIVOT value {written(value)} without a name")
    if count == 1:
        return plain
    if aggregate is None:
        raise NotLoweredError("PIVOT", "several aggregates in PIVOT without names")
    return f"{plain}_{aggregate}"


def _unpivot(context: Lowering, node: Node, scope: Scope, clause: exp.Pivot) -> tuple[Node, Scope]:
    field = _only_field(clause)
    if len(clause.expressions) != 1 or isinstance(clause.expressions[0], exp.Tuple):
        raise NotLoweredError("PIVOT", "UNPIVOT of several values at once")
    label, value = field.this.name, clause.expressions[0].name
    pairs, used = [], set()
    for one in field.expressions:
        source = one.this if isinstance(one, exp.PivotAlias) else one
        resolved = resolve(context, source, scope)
        if not isinstance(resolved, exp.Column):
            raise NotLoweredError("PIVOT", "UNPIVOT of what is no column")
        name = one.args["alias"].name if isinstance(one, exp.PivotAlias) else source.name
        used.add(resolved.name)
        pairs.append(_pair(name, resolved))
    ids = (context.fresh(label), context.fresh(value))
    array = exp.Array(expressions=pairs)
    made: Node = Generate(node, exp.Anonymous(this="inline", expressions=[array]), ids, outer=False)
    if not clause.args.get("include_nulls"):
        made = Filter(made, exp.Not(this=exp.Is(this=column(ids[1]), expression=exp.null())))
    kept = [Entry(e.name, e.id, None) for e in scope.star() if e.id not in used]
    shown = (*kept, Entry(label, ids[0], None), Entry(value, ids[1], None))
    return made, Scope(shown, scope.outer)


def _pair(name: str, value: exp.Expr) -> exp.Expr:
    fields = [exp.Literal.string(part) for part in ("name", name, "value")]
    return exp.Anonymous(this="named_struct", expressions=[*fields, value])
