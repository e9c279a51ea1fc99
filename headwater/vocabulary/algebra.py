"""A view's query as a tree of relational operators.

Every column in the tree has an id that is unique in the whole tree, so an expression can never mean
the wrong side of a join. Expressions are sqlglot nodes whose columns are those ids; they are
treated as immutable: whoever changes one copies it first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from sqlglot import exp

from headwater.vocabulary.names import HIDDEN_PREFIX


class JoinKind(StrEnum):
    """Join kinds in Spark's spelling."""

    INNER = "INNER"
    CROSS = "CROSS"
    LEFT = "LEFT"
    RIGHT = "RIGHT"
    FULL = "FULL"
    SEMI = "LEFT SEMI"
    ANTI = "LEFT ANTI"

    @property
    def keeps_right(self) -> bool:
        return self not in {JoinKind.SEMI, JoinKind.ANTI}


@dataclass(frozen=True)
class Item:
    """One computed column: `expression AS id`."""

    id: str
    expression: exp.Expr


@dataclass(frozen=True)
class Node:
    """An operator; `columns` are the ids it puts out, `inputs` the operators it reads."""

    @property
    def columns(self) -> tuple[str, ...]:
        raise NotImplementedError

    @property
    def inputs(self) -> tuple[Node, ...]:
        return ()


@dataclass(frozen=True)
class Unary(Node):
    """An operator on one input, whose columns it hands on unless it says otherwise."""

    input: Node

    @property
    def columns(self) -> tuple[str, ...]:
        return self.input.columns

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)


@dataclass(frozen=True)
class Scan(Node):
    """One occurrence of a source; a table read twice is two leaves."""

    source: str
    leaf: int
    fields: tuple[tuple[str, str], ...]  # (column of the source, id)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(id_ for _, id_ in self.fields)

    @property
    def stand_in(self) -> str:
        """What a text that is kept calls it: a name that no query may use."""
        return f"{HIDDEN_PREFIX}leaf_{self.leaf}"


@dataclass(frozen=True)
class Filter(Unary):
    """Rows for which the predicate is true."""

    predicate: exp.Expr


@dataclass(frozen=True)
class Project(Unary):
    """Computed columns, row by row."""

    items: tuple[Item, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(item.id for item in self.items)


@dataclass(frozen=True)
class Join(Node):
    """Pairs of rows; the sides' column ids are disjoint by construction."""

    left: Node
    right: Node
    kind: JoinKind
    on: exp.Expr | None

    @property
    def columns(self) -> tuple[str, ...]:
        return self.left.columns + (self.right.columns if self.kind.keeps_right else ())

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)


@dataclass(frozen=True)
class Aggregate(Unary):
    """One row per group; without keys, exactly one row even for no input."""

    keys: tuple[Item, ...]
    aggregates: tuple[Item, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(item.id for item in (*self.keys, *self.aggregates))


@dataclass(frozen=True)
class Distinct(Unary):
    """Each different row once."""


@dataclass(frozen=True)
class UnionAll(Node):
    """All rows of all branches, by position; `ids` name the result's columns."""

    branches: tuple[Node, ...]
    ids: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.ids

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.branches


@dataclass(frozen=True)
class SetOperation(Node):
    """EXCEPT or INTERSECT, with or without ALL, by position."""

    left: Node
    right: Node
    operator: str  # EXCEPT | INTERSECT
    keeps_duplicates: bool
    ids: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.ids

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)


@dataclass(frozen=True)
class Window(Unary):
    """The input's columns and one more per window expression."""

    items: tuple[Item, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.input.columns + tuple(item.id for item in self.items)


@dataclass(frozen=True)
class Generate(Unary):
    """Each input row beside the rows its generator makes of it (LATERAL VIEW explode(...))."""

    generator: exp.Expr
    ids: tuple[str, ...]
    outer: bool

    @property
    def columns(self) -> tuple[str, ...]:
        return self.input.columns + self.ids


@dataclass(frozen=True)
class Pivot(Unary):
    """One row per combination of the group columns, one column per value and aggregate.

    Spark itself evaluates it: what a missing combination gives depends on the aggregates' types.
    """

    groups: tuple[str, ...]
    on: tuple[str, ...]
    values: tuple[exp.Expr, ...]
    aggregates: tuple[Item, ...]
    ids: tuple[str, ...]  # value by value, aggregate by aggregate

    @property
    def columns(self) -> tuple[str, ...]:
        return self.groups + self.ids


@dataclass(frozen=True)
class TopK(Unary):
    """ORDER BY ... LIMIT ... OFFSET."""

    order: tuple[exp.Expr, ...]
    limit: exp.Expr | None
    offset: exp.Expr | None


@dataclass(frozen=True)
class Opaque(Node):
    """A sub-query kept as text; `scans` are the tables it names, in the order of their leaves.

    Its tables have `stand_in` names, so that old, new and current versions can take their places.
    """

    query: exp.Expr
    scans: tuple[Scan, ...]
    ids: tuple[str, ...]
    reason: str

    @property
    def columns(self) -> tuple[str, ...]:
        return self.ids

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.scans


@dataclass(frozen=True)
class Query:
    """A whole view: the tree and the names under which its columns are shown, in order."""

    root: Node
    names: tuple[str, ...]  # visible names, one per column of the root


def walk(node: Node) -> Iterator[Node]:
    """All operators of a tree, parents before children."""
    yield node
    for child in node.inputs:
        yield from walk(child)


def scans(node: Node) -> tuple[Scan, ...]:
    """The leaves of a tree, left to right."""
    return tuple(found for found in walk(node) if isinstance(found, Scan))


def column(id_: str) -> exp.Column:
    """A reference to a column id."""
    return exp.Column(this=exp.to_identifier(id_, quoted=True))


def passed(ids: tuple[str, ...]) -> tuple[Item, ...]:
    """Columns that a projection hands on as they are."""
    return tuple(Item(id_, column(id_)) for id_ in ids)


def used_columns(expression: exp.Expr) -> frozenset[str]:
    """The column ids an expression reads."""
    return frozenset(found.name for found in expression.find_all(exp.Column))
