"""GROUP BY and the aggregates of a SELECT."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.define.lowering.context import Lowering
from headwater.define.lowering.expressions import (
    contains_aggregate,
    replace_aggregates,
    resolve,
)
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.scope import Scope
from headwater.vocabulary.algebra import Aggregate, Item, Node, column, used_columns

_UNREAD = ("grouping_sets", "cube", "rollup", "totals")


@dataclass
class Grouping:
    """The aggregate under construction; expressions over its groups register what they need."""

    context: Lowering
    input: Node
    keys: list[Item]
    aggregates: list[Item]

    @property
    def node(self) -> Aggregate:
        return Aggregate(self.input, tuple(self.keys), tuple(self.aggregates))

    def over_groups(self, expression: exp.Expr) -> exp.Expr:
        """The expression in terms of group keys and aggregates."""
        changed = replace_aggregates(self._keys_replaced(expression), self._aggregate)
        ours = {item.id for item in (*self.keys, *self.aggregates)}
        if not used_columns(changed) <= ours:
            raise NotLoweredError("NOT_GROUPED", "a column that is neither grouped nor aggregated")
        return changed

    def _keys_replaced(self, node: exp.Expr) -> exp.Expr:
        """Keys become columns, but not inside an aggregate's arguments, which see input rows."""
        calls: list[exp.Expr] = []

        def put_aside(call: exp.Expr) -> exp.Expr:
            calls.append(call.copy())
            return exp.Placeholder(this=f"aggregate{len(calls) - 1}")

        def back(part: exp.Expr) -> exp.Expr:
            if isinstance(part, exp.Placeholder) and str(part.this).startswith("aggregate"):
                return calls[int(str(part.this).removeprefix("aggregate"))]
            return part

        def as_key(part: exp.Expr) -> exp.Expr:
            for key in self.keys:
                if part == key.expression:
                    return column(key.id)
            return part

        return replace_aggregates(node, put_aside).transform(as_key).transform(back)

    def _aggregate(self, call: exp.Expr) -> exp.Expr:
        if call.find(exp.Grouping, exp.GroupingId):
            raise NotLoweredError("GROUPING_SETS", "grouping() without grouping sets")
        for item in self.aggregates:
            if item.expression == call:
                return column(item.id)
        self.aggregates.append(Item(self.context.fresh("agg"), call.copy()))
        return column(self.aggregates[-1].id)


def group(
    context: Lowering,
    node: Node,
    scope: Scope,
    select: exp.Select,
    selected: list[exp.Expr],
) -> Grouping:
    """Start the aggregate of a SELECT; its node is complete once all clauses went through."""
    clause = select.args.get("group")
    keys = _keys(clause, scope, select, selected) if clause is not None else []
    grouping = Grouping(context, node, [], [])
    for key in keys:
        if contains_aggregate(key):
            raise NotLoweredError("NOT_GROUPED", "an aggregate in GROUP BY")
        if all(item.expression != key for item in grouping.keys):
            grouping.keys.append(Item(context.fresh(key.name or "key"), key))
    for expression in selected:
        grouping.over_groups(expression)
    _register(grouping, select, scope, selected)
    return grouping


def _register(
    grouping: Grouping, select: exp.Select, scope: Scope, selected: list[exp.Expr]
) -> None:
    """Aggregates that only HAVING or ORDER BY name must exist before the node is taken."""
    names = [e.alias_or_name.lower() for e in select.expressions]
    aliases = dict(zip(names, selected, strict=False)) if len(names) == len(selected) else {}
    for clause in ("having", "order"):
        part = select.args.get(clause)
        if part is None:
            continue
        for call in _calls(part):
            grouping.over_groups(resolve(call, scope, aliases))


def _calls(part: exp.Expr) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    replace_aggregates(part, lambda call: found.append(call) or call)  # type: ignore[func-returns-value]
    return found


def _keys(
    clause: exp.Expr, scope: Scope, select: exp.Select, selected: list[exp.Expr]
) -> list[exp.Expr]:
    if any(clause.args.get(part) for part in _UNREAD):
        raise NotLoweredError("GROUPING_SETS", "grouping sets")
    if clause.args.get("all") or _is_all(clause, scope):
        return [e.copy() for e in selected if not contains_aggregate(e)]
    aliases = _aliases(select, selected)
    return [_key(written, scope, aliases, selected) for written in clause.expressions]


def _is_all(clause: exp.Expr, scope: Scope) -> bool:
    if len(clause.expressions) != 1 or not isinstance(clause.expressions[0], exp.Column):
        return False
    only = clause.expressions[0]
    return only.name.lower() == "all" and not only.table and scope.find(["all"]) is None


def _aliases(select: exp.Select, selected: list[exp.Expr]) -> dict[str, exp.Expr]:
    if len(select.expressions) != len(selected):
        return {}
    pairs = zip(select.expressions, selected, strict=True)
    return {w.alias.lower(): e for w, e in pairs if isinstance(w, exp.Alias)}


def _key(
    written: exp.Expr,
    scope: Scope,
    aliases: dict[str, exp.Expr],
    selected: list[exp.Expr],
) -> exp.Expr:
    if isinstance(written, (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple)):
        raise NotLoweredError("GROUPING_SETS", "grouping sets")
    if isinstance(written, exp.Literal) and not written.is_string:
        return selected[int(written.name) - 1].copy()
    if isinstance(written, exp.Literal):
        raise NotLoweredError("CONSTANT_KEY", "a constant in GROUP BY")
    key = resolve(written, scope, aliases)
    return key.this if isinstance(key, exp.Paren) else key
