"""A sub-query for every outer row at once: D ⋈ Q(d), with D the outer rows it asks about.

    ⋃ {d} × σ_p(X)   =  D ⋈_p X          ⋃ {d} × π(X)   =  π_d(D ⋈ X)
    ⋃ {d} × γ_k(X)   =  γ_{d,k}(D ⋈ X)   ⋃ {d} × γ(X)   =  γ_d(D ⟕ X), counting only partners
    ⋃ {d} × δ(X)     =  δ(D ⋈ X)         ⋃ {d} × τ_n(X) =  σ(row_number by d <= n)(D ⋈ X)

The sub-query is pushed through operator by operator until it reads nothing from outside. What
follows are ordinary operators with ordinary laws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import singledispatch

from sqlglot import exp

from headwater.define.lowering.context import Lowering
from headwater.define.lowering.expressions import all_of
from headwater.define.lowering.free import is_closed
from headwater.define.lowering.lift import lift
from headwater.define.lowering.refusal import NotLoweredError
from headwater.vocabulary.algebra import (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Item,
    Join,
    JoinKind,
    Node,
    Project,
    SetOperation,
    TopK,
    UnionAll,
    Window,
    column,
    passed,
)

Meaning = Mapping[str, str]
"""Outer column -> the column of a tree that stands for it."""


@dataclass(frozen=True)
class Domain:
    """The distinct outer values a sub-query depends on; every use has ids of its own."""

    context: Lowering
    rows: Node  # its columns are in the order of `outer`
    outer: tuple[str, ...]

    @property
    def outside(self) -> frozenset[str]:
        return frozenset(self.outer)

    def fresh(self) -> tuple[Node, Meaning]:
        ids = tuple(self.context.fresh("d") for _ in self.outer)
        pairs = zip(ids, self.rows.columns, strict=True)
        items = tuple(Item(id_, column(below)) for id_, below in pairs)
        return Project(self.rows, items), dict(zip(self.outer, ids, strict=True))


def depend(node: Node, domain: Domain) -> tuple[Node, Meaning]:
    """The node's rows beside each outer value they belong to; extra columns may remain."""
    lifted = lift(node, domain.outside)
    if lifted is not None:
        rows, meaning = domain.fresh()
        closed, conditions = lifted
        on = all_of([substituted(part, meaning) for part in conditions])
        kind = JoinKind.CROSS if on is None else JoinKind.INNER
        return Join(rows, closed, kind, on), meaning
    return _depend(node, domain)


def same(one: Meaning, other: Meaning) -> list[exp.Expr]:
    """Both sides speak of the same outer row."""
    return [exp.NullSafeEQ(this=column(one[id_]), expression=column(other[id_])) for id_ in one]


def substituted(expression: exp.Expr, meaning: Meaning) -> exp.Expr:
    """The expression with outer columns replaced by those that stand for them."""

    def meant(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column) and part.name in meaning:
            return column(meaning[part.name])
        return part

    return expression.copy().transform(meant)


def exactly(node: Node, ids: tuple[str, ...], meaning: Meaning) -> Node:
    """These columns and the outer ones, in this order, and nothing else."""
    return Project(node, passed((*ids, *meaning.values())))


@singledispatch
def _depend(node: Node, domain: Domain) -> tuple[Node, Meaning]:
    word = type(node).__name__.upper()
    raise NotLoweredError("CORRELATED", f"the outer row is named below {word}")


def _items(items: tuple[Item, ...], meaning: Meaning) -> tuple[Item, ...]:
    return tuple(Item(item.id, substituted(item.expression, meaning)) for item in items)


@_depend.register
def _filter(node: Filter, domain: Domain) -> tuple[Node, Meaning]:
    below, meaning = depend(node.input, domain)
    return Filter(below, substituted(node.predicate, meaning)), meaning


@_depend.register
def _project(node: Project, domain: Domain) -> tuple[Node, Meaning]:
    below, meaning = depend(node.input, domain)
    items = (*_items(node.items, meaning), *passed(tuple(meaning.values())))
    return Project(below, items), meaning


@_depend.register
def _join(node: Join, domain: Domain) -> tuple[Node, Meaning]:
    if node.kind is JoinKind.FULL:
        raise NotLoweredError("CORRELATED", "the outer row is named below a FULL JOIN")
    if node.kind is JoinKind.RIGHT:
        return _join(Join(node.right, node.left, JoinKind.LEFT, node.on), domain)
    left, meaning = depend(node.left, domain)
    on = [substituted(node.on, meaning)] if node.on is not None else []
    right = node.right
    if not is_closed(right, domain.outside):
        right, other = depend(right, domain)
        on += same(meaning, other)
    kind = JoinKind.INNER if node.kind is JoinKind.CROSS and on else node.kind
    return Join(left, right, kind, all_of(on)), meaning


@_depend.register
def _aggregate(node: Aggregate, domain: Domain) -> tuple[Node, Meaning]:
    if not node.keys:
        return _whole(node, domain)
    below, meaning = depend(node.input, domain)
    return _by_outer(node, below, meaning, domain, lambda call: call)


def _whole(node: Aggregate, domain: Domain) -> tuple[Node, Meaning]:
    """A row for every outer value, also for those that no input row belongs to."""
    rows, meaning = domain.fresh()
    lifted = lift(node.input, domain.outside)
    if lifted is not None:
        below, conditions = lifted
        on = [substituted(part, meaning) for part in conditions]
    else:
        below, other = depend(node.input, domain)
        on = same(meaning, other)
    marker = domain.context.fresh("partner")
    marked = Project(below, (*passed(below.columns), Item(marker, exp.true())))
    joined = Join(rows, marked, JoinKind.LEFT, all_of(on) or exp.true())
    return _by_outer(node, joined, meaning, domain, lambda call: _partners_only(call, marker))


def _by_outer(
    node: Aggregate,
    below: Node,
    meaning: Meaning,
    domain: Domain,
    change: Callable[[exp.Expr], exp.Expr],
) -> tuple[Node, Meaning]:
    grouped = {id_: domain.context.fresh("d") for id_ in meaning}
    keys = tuple(Item(grouped[id_], column(meaning[id_])) for id_ in meaning)
    aggregates = tuple(
        Item(item.id, change(item.expression)) for item in _items(node.aggregates, meaning)
    )
    return Aggregate(below, (*_items(node.keys, meaning), *keys), aggregates), grouped


def _partners_only(call: exp.Expr, marker: str) -> exp.Expr:
    if isinstance(call, (exp.IgnoreNulls, exp.RespectNulls)):
        return type(call)(this=_partners_only(call.this, marker))
    if isinstance(call, exp.Filter):
        both = exp.and_(exp.Paren(this=call.expression.this.copy()), column(marker), copy=False)
        return exp.Filter(this=call.this.copy(), expression=exp.Where(this=both))
    return exp.Filter(this=call.copy(), expression=exp.Where(this=column(marker)))


@_depend.register
def _distinct(node: Distinct, domain: Domain) -> tuple[Node, Meaning]:
    below, meaning = depend(node.input, domain)
    return Distinct(exactly(below, node.columns, meaning)), meaning


@_depend.register
def _union(node: UnionAll, domain: Domain) -> tuple[Node, Meaning]:
    branches = tuple(
        exactly(below, branch.columns, meaning)
        for branch in node.branches
        for below, meaning in [depend(branch, domain)]
    )
    ids, meaning = _positions(node.ids, domain)
    return UnionAll(branches, ids), meaning


@_depend.register
def _set_operation(node: SetOperation, domain: Domain) -> tuple[Node, Meaning]:
    left, right = (
        exactly(below, side.columns, meaning)
        for side in (node.left, node.right)
        for below, meaning in [depend(side, domain)]
    )
    ids, meaning = _positions(node.ids, domain)
    return replace(node, left=left, right=right, ids=ids), meaning


def _positions(ids: tuple[str, ...], domain: Domain) -> tuple[tuple[str, ...], Meaning]:
    meaning = {id_: domain.context.fresh("d") for id_ in domain.outer}
    return (*ids, *meaning.values()), meaning


@_depend.register
def _window(node: Window, domain: Domain) -> tuple[Node, Meaning]:
    below, meaning = depend(node.input, domain)
    items = []
    for item in _items(node.items, meaning):
        over = item.expression.copy()
        by = [*(over.args.get("partition_by") or []), *(column(d) for d in meaning.values())]
        over.set("partition_by", by)
        items.append(Item(item.id, over))
    return Window(below, tuple(items)), meaning


@_depend.register
def _generate(node: Generate, domain: Domain) -> tuple[Node, Meaning]:
    below, meaning = depend(node.input, domain)
    generator = substituted(node.generator, meaning)
    return replace(node, input=below, generator=generator), meaning


@_depend.register
def _top_k(node: TopK, domain: Domain) -> tuple[Node, Meaning]:
    """The first rows of all become the first rows of each."""
    below, meaning = depend(node.input, domain)
    outer = [column(d) for d in meaning.values()]
    order = [substituted(key, meaning) for key in node.order]
    if not order:
        order = [exp.Ordered(this=outer[0].copy(), nulls_first=True)]
    number = domain.context.fresh("number")
    over = exp.Window(
        this=exp.Anonymous(this="row_number"),
        partition_by=outer,
        order=exp.Order(expressions=order),
        over="OVER",
    )
    first = _number(node.offset)
    last = [f"`{number}` <= {first + _number(node.limit)}"] if node.limit is not None else []
    kept = exp.condition(" AND ".join([f"`{number}` > {first}", *last]), dialect="spark")
    return Filter(Window(below, (Item(number, over),)), kept), meaning


def _number(count: exp.Expr | None) -> int:
    if count is None:
        return 0
    if isinstance(count, exp.Literal) and not count.is_string and count.name.isdigit():
        return int(count.name)
    raise NotLoweredError("LIMIT", "a LIMIT that is not a number in a correlated sub-query")
