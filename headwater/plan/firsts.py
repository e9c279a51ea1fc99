"""First rows of each partition at the top of a tree: `row_number() OVER (...) = 1` and its kind."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from headwater.define.lowering.expressions import conjuncts, function_name
from headwater.plan.moved import asks_clock
from headwater.vocabulary.algebra import Filter, Node, Project, Window, used_columns

_PLACES = {"row_number": "rank", "rank": "rank", "dense_rank": "dense_rank"}
"""Functions that only look at the rows before, and how such rows are counted."""

_MIRRORED = {exp.EQ: exp.EQ, exp.GT: exp.LT, exp.GTE: exp.LTE}
_FEWEST = {exp.EQ: 0, exp.LTE: 0, exp.LT: 1}


@dataclass(frozen=True)
class Firsts:
    """Of each partition the rows up to a place; `is_all` if none of them is left out."""

    window: Window
    most: int
    place: str
    is_all: bool

    @property
    def partition(self) -> tuple[exp.Expr, ...]:
        return tuple(_over(self.window).args.get("partition_by") or ())

    @property
    def order(self) -> tuple[exp.Expr, ...]:
        return tuple(_over(self.window).args["order"].expressions)

    @property
    def used(self) -> frozenset[str]:
        """What tells a row's partition, and its place in it."""
        return frozenset[str]().union(*map(used_columns, (*self.partition, *self.order)))


@dataclass
class _Wanted:
    """What is asked of the columns of a level of the tree, going down."""

    most: dict[str, int] = field(default_factory=dict)  # column -> it must not be above that
    others: int = 0  # conditions of any other kind

    def ask(self, predicate: exp.Expr) -> None:
        for part in conjuncts(predicate):
            limit = _limit(part.unnest())
            if limit is None:
                self.others += 1
            else:
                name, most = limit
                self.others += name in self.most
                self.most[name] = min(most, self.most.get(name, most))

    def pass_through(self, project: Project) -> None:
        meaning = {item.id: item.expression for item in project.items}
        there = {name: meaning[name] for name in self.most}
        plain = {name: e.name for name, e in there.items() if isinstance(e, exp.Column)}
        self.others += len(self.most) - len(set(plain.values()))
        self.most = {at: self.most[name] for name, at in plain.items()}


def firsts_of(root: Node) -> Firsts | None:
    """None where other rows of a partition, or the clock, have a say in what is shown."""
    wanted, node = _Wanted(), root
    while isinstance(node, (Project, Filter)) and not asks_clock(node):
        if isinstance(node, Filter):
            wanted.ask(node.predicate)
        else:
            wanted.pass_through(node)
        node = node.input
    if not isinstance(node, Window) or asks_clock(node) or not _only_places(node):
        return None
    placed = {item.id: str(function_name(item.expression.this)) for item in node.items}
    limits = [(most, id_) for id_, most in wanted.most.items() if id_ in placed]
    if not limits or limits[0][0] < 1:
        return None
    most, id_ = limits[0]
    is_all = most == 1 and not wanted.others and len(wanted.most) == 1
    return Firsts(node, most, _PLACES[placed[id_]], is_all)


def _only_places(window: Window) -> bool:
    """Whether all that the window tells is a row's place, in one and the same order."""
    overs = [item.expression for item in window.items]
    first = overs[0]
    return all(
        isinstance(over, exp.Window)
        and function_name(over.this) in _PLACES
        and over.args.get("order") is not None
        and over.args.get("spec") is None
        and over.args.get("partition_by") == first.args.get("partition_by")
        and over.args.get("order") == first.args.get("order")
        for over in overs
    )


def _over(window: Window) -> exp.Expr:
    return window.items[0].expression


def _limit(predicate: exp.Expr) -> tuple[str, int] | None:
    """`column <= n` in any spelling; `column = 1`, as no place is lower."""
    kind, left, right = (
        type(predicate),
        predicate.args.get("this"),
        predicate.args.get("expression"),
    )
    if isinstance(left, exp.Literal) and kind in _MIRRORED:
        kind, left, right = _MIRRORED[kind], right, left
    if kind not in _FEWEST or not isinstance(left, exp.Column):
        return None
    if not isinstance(right, exp.Literal) or not right.is_int:
        return None
    most = int(right.this) - _FEWEST[kind]
    return None if kind is exp.EQ and most != 1 else (left.name, most)
