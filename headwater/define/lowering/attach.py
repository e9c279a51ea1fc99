"""Sub-queries joined to the rows around them.

    SELECT (SELECT max(v) FROM t) FROM r                       ->  r × γ(t)
    SELECT (SELECT max(v) FROM t WHERE t.g = r.g) FROM r       ->  r ⋈ γ_g(δ_g(r) ⟕ t)
    WHERE EXISTS (SELECT 1 FROM t WHERE t.g = r.g) OR r.k = 1  ->  r ⟕ (δ_g(r) ⋉ t), then a filter

Every outer row meets exactly one row, so none is lost or doubled. A scalar sub-query of more than
one row fails, as it does in Spark; one of none is NULL, and count() of none is 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from headwater.define.as_they_come import OF_ONE_ROW
from headwater.define.lowering.context import Dependent, Lowering
from headwater.define.lowering.depend import Domain, depend, substituted
from headwater.define.lowering.expressions import all_of
from headwater.define.lowering.lift import lift
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.sensitive import refuse_sensitive
from headwater.define.lowering.subquery import Sub
from headwater.define.lowering.unknown import refuse_told_apart
from headwater.vocabulary.algebra import (
    Aggregate,
    Distinct,
    Filter,
    Item,
    Join,
    JoinKind,
    Node,
    Project,
    TopK,
    column,
)

_TOO_MANY = "[SCALAR_SUBQUERY_TOO_MANY_ROWS] a sub-query used as a value has more than one row"


@dataclass
class Attaching:
    """Rows that grow a column for every sub-query; `base` are the rows before the first."""

    context: Lowering
    base: Node
    node: Node
    known: dict[Sub, exp.Expr] = field(default_factory=dict)

    @classmethod
    def to(cls, context: Lowering, node: Node) -> Attaching:
        return cls(context, node, node)

    def values(self, expression: exp.Expr) -> exp.Expr:
        """The expression with every sub-query replaced by the column that holds its value."""
        if not expression.find(Sub):
            return expression
        refuse_told_apart(expression, self._may_be_unknown)

        def as_value(part: exp.Expr) -> exp.Expr:
            if not isinstance(part, Sub):
                return part
            if part not in self.known:
                self.known[part] = self._value(part)
            return self.known[part].copy()

        return expression.copy().transform(as_value)

    def _may_be_unknown(self, part: exp.Expr) -> bool:
        return isinstance(part, Sub) and is_membership(self.context.dependents[part.this])

    def _value(self, part: Sub) -> exp.Expr:
        dependent = self.context.dependents[part.this]
        outer = [e.copy() for e in part.expressions[: len(dependent.outer)]]
        needles = [self.values(e) for e in part.expressions[len(dependent.outer) :]]
        if any(e.find(Sub) for e in part.expressions):
            self.base = self.node
        if dependent.kind == "SCALAR":
            return self._correlated(dependent, outer) if outer else self._scalar(dependent)
        if dependent.kind == "EXISTS" and not outer:
            return self._any(dependent)
        return self._mark(dependent, outer, needles)

    # --- values ---------------------------------------------------------------------------------

    def _scalar(self, dependent: Dependent) -> exp.Expr:
        """Not correlated: one row for all."""
        node, value = dependent.node, dependent.values[0]
        if not is_one_row(node):
            node, value = self._one_row(node, value, ())
        node, ids = _renamed(self.context, node, (value,))
        self.node = Join(self.node, node, JoinKind.CROSS, None)
        return column(ids[value])

    def _correlated(self, dependent: Dependent, outer: list[exp.Expr]) -> exp.Expr:
        domain = self.domain(dependent.node, dependent.outer, outer)
        right, meaning = depend(dependent.node, domain)
        value, exact = dependent.values[0], is_one_row(dependent.node)
        if not exact and not is_at_most_one_row(dependent.node):
            right, value = self._one_row(right, value, tuple(meaning.values()))
        kept = (value, *meaning.values())
        right, ids = _renamed(self.context, right, kept)
        on = [_same(e, ids[meaning[o]]) for e, o in zip(outer, dependent.outer, strict=True)]
        kind = JoinKind.INNER if exact else JoinKind.LEFT
        self.node = Join(self.node, right, kind, all_of(on))
        return column(ids[value])

    def _one_row(self, node: Node, value: str, keys: tuple[str, ...]) -> tuple[Node, str]:
        """Fails for more than one row; of none, the value is NULL."""
        count, any_, checked = (self.context.fresh(n) for n in ("rows", "value", "value"))
        taken = exp.Anonymous(this="any_value", expressions=[column(value)])
        taken.meta[OF_ONE_ROW] = True
        aggregates = (Item(count, exp.Count(this=exp.Star(), big_int=True)), Item(any_, taken))
        grouped = Aggregate(node, tuple(Item(k, column(k)) for k in keys), aggregates)
        return _checked(grouped, keys, count, any_, checked), checked

    def _any(self, dependent: Dependent) -> exp.Expr:
        """EXISTS that asks nothing of the outer row: one count for all."""
        count = self.context.fresh("rows")
        counted = Item(count, exp.Count(this=exp.Star(), big_int=True))
        self.node = Join(self.node, Aggregate(dependent.node, (), (counted,)), JoinKind.CROSS, None)
        return exp.Paren(this=exp.GT(this=column(count), expression=exp.Literal.number(0)))

    def _mark(
        self, dependent: Dependent, outer: list[exp.Expr], needles: list[exp.Expr]
    ) -> exp.Expr:
        """TRUE or FALSE for every outer row, never NULL: so does Spark."""
        wanted = tuple(self.context.fresh("needle") for _ in needles)
        domain = self.domain(dependent.node, (*dependent.outer, *wanted), [*outer, *needles])
        rows, meaning = domain.fresh()
        lifted = lift(dependent.node, domain.outside)
        if lifted is not None:
            closed, on = lifted[0], [substituted(part, meaning) for part in lifted[1]]
        else:
            inner = Domain(self.context, _first(domain.rows, len(outer)), dependent.outer)
            closed, other = depend(dependent.node, inner)
            on = [_same(column(meaning[o]), other[o]) for o in dependent.outer]
        on += membership(dependent, [column(meaning[w]) for w in wanted])
        found = Join(rows, closed, JoinKind.SEMI, all_of(on) or exp.true())
        mark = self.context.fresh("mark")
        if is_membership(dependent):
            self.context.answers.add(mark)
        ids = tuple(meaning.values())
        marked = Project(found, (*(Item(i, column(i)) for i in ids), Item(mark, exp.true())))
        same = [_same(e, i) for e, i in zip([*outer, *needles], ids, strict=True)]
        self.node = Join(self.node, marked, JoinKind.LEFT, all_of(same))
        known = exp.Not(this=exp.Is(this=column(mark), expression=exp.null()))
        return exp.Paren(this=exp.Not(this=exp.Paren(this=known)) if _is_not(dependent) else known)

    def domain(self, inner: Node, names: tuple[str, ...], outer: list[exp.Expr]) -> Domain:
        """The different outer values a sub-query is asked about."""
        refuse_sensitive(inner, frozenset(names))
        ids = tuple(self.context.fresh("d") for _ in outer)
        items = tuple(Item(id_, e.copy()) for id_, e in zip(ids, outer, strict=True))
        return Domain(self.context, Distinct(Project(self.base, items)), names)


def membership(dependent: Dependent, needles: list[exp.Expr]) -> list[exp.Expr]:
    """What IN compares. For NOT IN, a comparison that gives NULL counts as a match."""
    found: list[exp.Expr] = []
    for needle, value in zip(needles, dependent.values, strict=False):
        equal = exp.EQ(this=exp.Paren(this=needle), expression=column(value))
        if _is_not(dependent):
            unknown = exp.Is(this=exp.Paren(this=equal.copy()), expression=exp.null())
            found.append(exp.Or(this=exp.Paren(this=equal), expression=exp.Paren(this=unknown)))
        else:
            found.append(equal)
    return found


def is_one_row(node: Node) -> bool:
    """Exactly one row, whatever the input."""
    while isinstance(node, Project):
        node = node.input
    return isinstance(node, Aggregate) and not node.keys


def is_at_most_one_row(node: Node) -> bool:
    while isinstance(node, (Project, Filter, Distinct)):
        node = node.input
    if isinstance(node, TopK) and node.limit is not None:
        return isinstance(node.limit, exp.Literal) and node.limit.name in {"0", "1"}
    return isinstance(node, Aggregate) and not node.keys


def is_membership(dependent: Dependent) -> bool:
    """IN or NOT IN, which may have no answer."""
    return dependent.kind in {"IN", "NOT IN"}


def _is_not(dependent: Dependent) -> bool:
    return dependent.kind == "NOT IN"


def _checked(node: Node, keys: tuple[str, ...], count: str, value: str, checked: str) -> Node:
    too_many = exp.GT(this=column(count), expression=exp.Literal.number(1))
    failing = exp.Anonymous(this="raise_error", expressions=[exp.Literal.string(_TOO_MANY)])
    case = exp.Case(ifs=[exp.If(this=too_many, true=failing)], default=column(value))
    return Project(node, (*(Item(k, column(k)) for k in keys), Item(checked, case)))


def _renamed(context: Lowering, node: Node, kept: tuple[str, ...]) -> tuple[Node, dict[str, str]]:
    """Only these columns, under new ids, so that no two attached sub-queries share one."""
    ids = {id_: context.fresh("sub") for id_ in kept}
    return Project(node, tuple(Item(new, column(old)) for old, new in ids.items())), ids


def _first(rows: Node, number: int) -> Node:
    """The domain without its last columns, each value once."""
    if number == len(rows.columns):
        return rows
    return Distinct(Project(rows, tuple(Item(id_, column(id_)) for id_ in rows.columns[:number])))


def _same(expression: exp.Expr, id_: str) -> exp.Expr:
    return exp.NullSafeEQ(this=exp.Paren(this=expression.copy()), expression=column(id_))


def refuse_left(expression: exp.Expr) -> None:
    """No sub-query may stay behind where no rows are to attach it to."""
    if expression.find(Sub):
        raise NotLoweredError("SUBQUERY", "a sub-query stands where no law covers it")
