"""PIVOT, which stays an operator of its own, and UNPIVOT, which is a generator.

UNPIVOT (val FOR name IN (a, b))  ->  inline([('a', a), ('b', b)]), rows with NULL left out
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

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
    ids = tuple(context.fresh(label.name) for label in labels)
    values = tuple(_value(v) for v in field.expressions)
    pivot = Pivot(
        Project(node, passed(tuple(e.id for e in scope.star()))),
        tuple(entry.id for entry in groups),
        tuple(c.name for c in on),
        values,
        tuple(aggregates),
        ids,
    )
    pairs = zip(labels, ids, strict=True)
    made = [Entry(label.name, id_, None, sure=label.sure) for label, id_ in pairs]
    return pivot, Scope((*(replace(e, relation=None) for e in groups), *made), scope.outer)


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


_WHOLE = re.compile("0|[1-9][0-9]*")
"""Numbers that Spark writes as they are written."""


@dataclass(frozen=True)
class _Label:
    """A column's name; not `sure` where Spark makes it up and we may know it wrongly."""

    name: str
    sure: bool = True


def _label(value: exp.Expr, aggregate: str | None, count: int) -> _Label:
    plain = _plain_label(value)
    if count == 1:
        return plain
    return _Label(f"{plain.name}_{aggregate}", plain.sure and aggregate is not None)


def _plain_label(value: exp.Expr) -> _Label:
    if isinstance(value, exp.PivotAlias):
        return _Label(str(value.args["alias"].name))
    if isinstance(value, exp.Literal):
        return _Label(value.name, value.is_string or _WHOLE.fullmatch(value.name) is not None)
    if isinstance(value, exp.Boolean):
        return _Label(str(value.this).lower())
    return _Label(written(value), sure=False)


def _unpivot(context: Lowering, node: Node, scope: Scope, clause: exp.Pivot) -> tuple[Node, Scope]:
    field = _only_field(clause)
    label, names = field.this.name, [part.name for part in _several(clause.expressions[0])]
    rows: list[exp.Expr] = []
    used: set[str] = set()
    for one in field.expressions:
        source = one.this if isinstance(one, exp.PivotAlias) else one
        columns = [resolve(context, part, scope) for part in _several(source)]
        if not all(isinstance(c, exp.Column) for c in columns) or len(columns) != len(names):
            raise NotLoweredError("PIVOT", "UNPIVOT of what is no column")
        plain = "_".join(part.name for part in _several(source))
        used.update(c.name for c in columns)
        rows.append(
            _row(one.args["alias"].name if isinstance(one, exp.PivotAlias) else plain, columns)
        )
    ids = (context.fresh(label), *(context.fresh(name) for name in names))
    array = exp.Array(expressions=rows)
    made: Node = Generate(node, exp.Anonymous(this="inline", expressions=[array]), ids, outer=False)
    if not clause.args.get("include_nulls"):
        made = Filter(made, exp.or_(*(_is_told(id_) for id_ in ids[1:])))
    kept = [replace(e, relation=None) for e in scope.star() if e.id not in used]
    pairs = zip((label, *names), ids, strict=True)
    return made, Scope((*kept, *(Entry(name, id_, None) for name, id_ in pairs)), scope.outer)


def _row(label: str, values: list[exp.Expr]) -> exp.Expr:
    """One row of an UNPIVOT: where its values come from, and these."""
    fields: list[exp.Expr] = [exp.Literal.string("name"), exp.Literal.string(label)]
    for number, value in enumerate(values):
        fields += [exp.Literal.string(f"value_{number}"), value]
    return exp.Anonymous(this="named_struct", expressions=fields)


def _is_told(id_: str) -> exp.Expr:
    return exp.Not(this=exp.Is(this=column(id_), expression=exp.null()))
