"""GROUP BY and the aggregates of a SELECT."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from headwater.define.lowering.attach import Attaching
from headwater.define.lowering.context import Lowering
from headwater.define.lowering.expressions import (
    contains_aggregate,
    function_name,
    replace_aggregates,
    resolve,
)
from headwater.define.lowering.grouping_sets import Expanded, expanded, is_expanded
from headwater.define.lowering.plain_aggregates import plain
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.scope import Scope
from headwater.define.lowering.selected import Selected
from headwater.define.lowering.sessions import is_session, refuse_sessions, sessions
from headwater.vocabulary.algebra import (
    Aggregate,
    Item,
    Node,
    Project,
    column,
    passed,
    used_columns,
)


@dataclass
class Grouping:
    """The aggregate under construction; expressions over its groups register what they need."""

    context: Lowering
    rows: Attaching
    keys: list[Item] = field(default_factory=list)
    aggregates: list[Item] = field(default_factory=list)
    meanings: list[tuple[exp.Expr, exp.Expr]] = field(default_factory=list)  # as written -> over us
    sets: Expanded | None = None
    generated: frozenset[str] = frozenset()  # columns that a generator makes above the groups

    @property
    def node(self) -> Aggregate:
        return Aggregate(self.rows.node, tuple(self.keys), tuple(self.aggregates))

    def add_key(self, key: exp.Expr) -> None:
        if contains_aggregate(key):
            raise NotLoweredError("NOT_GROUPED", "an aggregate in GROUP BY")
        if all(known != key for known, _ in self.meanings):
            if is_session(key):
                self._add_session(key)
                return
            refuse_sessions(key)
            value = self.rows.values(key)
            if not used_columns(value):
                value = self._constant(value)
            item = Item(self.context.fresh(key.name or "key"), value)
            self.keys.append(item)
            self.meanings.append((key, column(item.id)))

    def _add_session(self, call: exp.Expr) -> None:
        """Comes after all other keys: sessions are made within their groups."""
        others = tuple(item.expression for item in self.keys)
        made = sessions(self.context, self.rows.node, self.rows.values(call), others)
        self.rows = Attaching.to(self.context, made.rows)
        key = Item(self.context.fresh("session"), made.begins)
        self.keys.append(key)
        last = self._aggregate(made.ends)
        self.meanings.append((call, made.struct(key.id, last.name)))

    def _constant(self, value: exp.Expr) -> exp.Expr:
        """A constant key as a column of the rows: as text it would be read as an ordinal."""
        item = Item(self.context.fresh("constant"), value)
        node = self.rows.node
        self.rows = Attaching.to(self.context, Project(node, (*passed(node.columns), item)))
        return column(item.id)

    def over_groups(self, expression: exp.Expr) -> exp.Expr:
        """The expression in terms of group keys and aggregates."""
        changed = replace_aggregates(self._keys_replaced(expression), self._aggregate)
        refuse_sessions(changed)
        ours = {item.id for item in (*self.keys, *self.aggregates)} | self.generated
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
            for key, meant in self.meanings:
                if part == key:
                    return meant.copy()
            return part

        return replace_aggregates(node, put_aside).transform(as_key).transform(back)

    def _aggregate(self, call: exp.Expr) -> exp.Expr:
        if function_name(call) in {"grouping", "grouping_id"}:
            return self._grouping_function(call)
        call = plain(self.rows.values(call))
        refuse_sessions(call)
        for item in self.aggregates:
            if item.expression == call:
                return column(item.id)
        self.aggregates.append(Item(self.context.fresh("agg"), call.copy()))
        return column(self.aggregates[-1].id)

    def _grouping_function(self, call: exp.Expr) -> exp.Expr:
        if self.sets is None:
            raise NotLoweredError("GROUPING_SETS", "grouping() without grouping sets")
        return self.sets.function(call)


def group(
    context: Lowering,
    node: Node,
    scope: Scope,
    select: exp.Select,
    selected: Selected,
) -> Grouping:
    """Start the aggregate of a SELECT; its node is complete once all clauses went through."""
    clause = select.args.get("group")
    grouping = Grouping(context, Attaching.to(context, node), generated=selected.generated)
    keys = _Keys(context, scope, selected)
    if clause is not None and is_expanded(clause):
        _add_sets(grouping, clause, keys)
    elif clause is not None:
        for key in sorted(_keys(clause, keys, selected.generated), key=is_session):
            grouping.add_key(key)
    for expression in selected.expressions:
        grouping.over_groups(expression)
    if selected.generator is not None:
        grouping.over_groups(selected.generator.call)
    _register(grouping, select, scope, selected)
    return grouping


def group_keys(
    context: Lowering, scope: Scope, select: exp.Select, selected: Selected
) -> list[exp.Expr]:
    """What a SELECT groups by, over the columns of its rows."""
    clause = select.args.get("group")
    if clause is None:
        return []
    if is_expanded(clause):
        raise NotLoweredError("AMBIGUOUS_HAVING", "a name in HAVING beside GROUPING SETS")
    return _keys(clause, _Keys(context, scope, selected), selected.generated)


def _add_sets(grouping: Grouping, clause: exp.Expr, keys: _Keys) -> None:
    """Every row once per grouping set, the keys that a set leaves out being NULL."""
    sets = expanded(grouping.context, grouping.rows, clause, keys.key)
    grouping.rows = Attaching.to(grouping.context, sets.rows)
    grouping.keys = list(sets.keys)
    grouping.meanings = list(sets.meanings)
    grouping.sets = sets


def _register(grouping: Grouping, select: exp.Select, scope: Scope, selected: Selected) -> None:
    """Aggregates that only HAVING, QUALIFY or ORDER BY name must exist before the node is taken."""
    for clause in ("having", "qualify", "order"):
        part = select.args.get(clause)
        if part is None:
            continue
        for call in _calls(part):
            grouping.over_groups(resolve(grouping.context, call, scope, selected.aliases))


def _calls(part: exp.Expr) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    replace_aggregates(part, lambda call: found.append(call) or call)  # type: ignore[func-returns-value]
    return found


@dataclass(frozen=True)
class _Keys:
    """How GROUP BY's words are read: names of the input first, then aliases, then ordinals."""

    context: Lowering
    scope: Scope
    selected: Selected

    def key(self, written: exp.Expr) -> exp.Expr:
        if isinstance(written, exp.Literal) and not written.is_string:
            return self._ordinal(int(written.name))
        if isinstance(written, exp.Literal):
            raise NotLoweredError("CONSTANT_KEY", "a constant in GROUP BY")
        key = resolve(self.context, written, self.scope, self.selected.aliases)
        return key.this if isinstance(key, exp.Paren) else key

    def _ordinal(self, number: int) -> exp.Expr:
        shown = self.selected.expressions
        if not 1 <= number <= len(shown):
            raise NotLoweredError("CONSTANT_KEY", f"GROUP BY {number} is no column of the list")
        return shown[number - 1].copy()


def _keys(clause: exp.Expr, keys: _Keys, generated: frozenset[str]) -> list[exp.Expr]:
    if _is_all(clause, keys.scope):
        shown = keys.selected.expressions
        if any(used_columns(e) & generated for e in shown):
            raise NotLoweredError("GENERATOR", "GROUP BY ALL beside a generator")
        return [e.copy() for e in shown if not contains_aggregate(e)]
    return [keys.key(written) for written in clause.expressions]


def _is_all(clause: exp.Expr, scope: Scope) -> bool:
    if len(clause.expressions) != 1 or not isinstance(clause.expressions[0], exp.Column):
        return False
    only = clause.expressions[0]
    return only.name.lower() == "all" and not only.table and scope.find(["all"]) is None
