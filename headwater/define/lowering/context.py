"""What all parts of lowering share while one query is lowered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from headwater.define.lowering.refusal import NameProblem
from headwater.define.lowering.scope import Entry, Scope
from headwater.define.lowering.types import Nested, nested_type
from headwater.vocabulary.algebra import Node, Scan


@dataclass
class Counter:
    """Numbers for ids and leaves; the same query always gets the same ones."""

    columns: int = 0
    leaves: int = 0

    def column(self, name: str) -> str:
        self.columns += 1
        plain = "".join(c if c.isalnum() or c == "_" else "_" for c in name.lower()) or "c"
        return f"{plain}_{self.columns}"

    def leaf(self) -> int:
        self.leaves += 1
        return self.leaves


@dataclass(frozen=True)
class Dependent:
    """A sub-query inside an expression: its operators, and the outer columns that they read."""

    kind: str  # SCALAR | EXISTS | IN | NOT IN
    node: Node
    outer: tuple[str, ...]
    values: tuple[str, ...]  # the columns it shows


Asked = tuple[str, str, Scope, tuple[int, ...]]
"""A sub-query's kind, text and scope, and which CTEs its names may mean."""


@dataclass(frozen=True)
class Lowering:
    """Sources, CTEs in scope, and the way back into the lowering of a whole query."""

    catalog: Mapping[str, tuple[str, ...]]  # source -> its columns, as spelled by the table
    query: Callable[[Lowering, exp.Expr, Scope | None], tuple[Node, Scope]]
    own: Mapping[str, str] = field(default_factory=dict)  # user's function -> scalar | aggregate
    ctes: tuple[exp.CTE, ...] = ()
    counter: Counter = field(default_factory=Counter)
    problems: list[NameProblem] = field(default_factory=list)
    dependents: dict[str, Dependent] = field(default_factory=dict)
    asked: dict[Asked, str] = field(default_factory=dict)
    answers: set[str] = field(default_factory=set)  # ids that tell what an IN over a query says
    typed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # source -> column -> type
    types: dict[str, Nested] = field(default_factory=dict)  # id -> type, if made of others

    def fresh(self, name: str) -> str:
        return self.counter.column(name)

    def with_ctes(self, ctes: list[exp.CTE]) -> Lowering:
        return replace(self, ctes=self.ctes + tuple(ctes))

    def cte(self, name: str) -> tuple[exp.CTE, Lowering] | None:
        """The CTE a name means, and the lowering in which its body stands."""
        for index in reversed(range(len(self.ctes))):
            if self.ctes[index].alias.lower() == name.lower():
                return self.ctes[index], replace(self, ctes=self.ctes[:index])
        return None

    def scan(self, source: str, alias: str) -> tuple[Scan, Scope]:
        fields = tuple((name, self.fresh(name)) for name in self.catalog[source])
        known = self.typed.get(source, {})
        for name, id_ in fields:
            if (type_ := nested_type(known.get(name, ""))) is not None:
                self.types[id_] = type_
        scope = Scope(tuple(Entry(name, id_, alias) for name, id_ in fields))
        return Scan(source, self.counter.leaf(), fields), scope
