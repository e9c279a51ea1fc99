"""A view as the planner sees it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater.define.clock_calls import ClockCalls
from headwater.plan.exact import delicate
from headwater.plan.layout import Layout
from headwater.plan.mergeable import AggregateTypes
from headwater.plan.render import render
from headwater.plan.rounded import rounded_columns
from headwater.vocabulary.algebra import Query, scans
from headwater.vocabulary.clocks import bound
from headwater.vocabulary.names import quoted
from headwater.vocabulary.reason import Reason

Columns = tuple[tuple[str, str], ...]
"""(name, type as Spark spells it) in order."""


_FLOATING = re.compile(r"^(?!.*map<).*\b(?:double|float)\b")
"""Numbers, also in arrays and structs; maps cannot be ordered."""


@dataclass(frozen=True)
class Once:
    """The columns of a view's table that are computed once, and those that identify a row."""

    columns: tuple[str, ...]
    key: tuple[str, ...]


@dataclass(frozen=True)
class CompiledView:
    """Definition, operators and stored form of a view."""

    name: str
    sql: str  # the user's own text
    query: Query
    layout: Layout
    types: dict[str, AggregateTypes]
    sources: dict[str, Columns]  # name -> columns when the view was defined
    columns: Columns  # what a reader sees
    reasons: tuple[Reason, ...]  # parts of the query that no law understands
    functions: dict[str, str] = field(default_factory=dict)  # the user's own -> fingerprint of each
    rounded: frozenset[str] = frozenset()  # columns whose value depends on the order of addition
    asked: ClockCalls | None = None  # the text, what it asks the clock marked
    once: Once | None = None
    fragile: Mapping[str, str] = field(default_factory=dict)  # ids to compare with care -> type
    ties_broken: bool = False  # windows order rows that the user's words leave in any order

    @property
    def catalog(self) -> dict[str, tuple[str, ...]]:
        return {name: tuple(c for c, _ in columns) for name, columns in self.sources.items()}

    def reads(self, source: str) -> bool:
        """A CTE that nothing reads may name sources on which no row of the view depends."""
        return any(scan.source == source for scan in scans(self.query.root))

    @property
    def decided(self) -> Columns:
        """The columns that the sources' rows decide: all but those that are computed once."""
        once = self.once.columns if self.once is not None else ()
        return tuple(c for c in self.columns if self.stored[c[0]] not in once)

    @property
    def stored(self) -> dict[str, str]:
        """A reader's column -> the table's."""
        pairs = zip(self.columns, self.layout.visible, strict=True)
        return {name: stored for (name, _), stored in pairs}

    @property
    def fragile_columns(self) -> dict[str, str]:
        """The table's columns whose values are compared with care -> type."""
        shown = delicate((self.stored[name], type_) for name, type_ in self.columns)
        pairs = zip(self.layout.root.columns, self.layout.columns, strict=False)  # a text has none
        return {name: self.fragile[id_] for id_, name in pairs if id_ in self.fragile} | shown

    @property
    def rounded_shown(self) -> tuple[str, ...]:
        """A reader's columns of floating-point numbers that may differ in their last digits."""
        floating = [name for name, type_ in self.columns if _FLOATING.search(type_)]
        if self.is_opaque:
            return tuple(floating)
        found = rounded_columns(self.query.root, self.rounded)
        ids = dict(zip((name for name, _ in self.columns), self.query.root.columns, strict=False))
        return tuple(name for name in floating if ids[name] in found)

    @property
    def clocks(self) -> tuple[str, ...]:
        """What the query asks the clock, as far as a refresh can bind it."""
        return self.asked.clocks if self.asked is not None else ()

    def text(self, clock: Mapping[str, str]) -> str:
        """The user's query, its columns under the names they are stored by."""
        if not self.clocks and all(name == stored for name, stored in self.stored.items()):
            return self.sql
        return self._named(clock, self.layout.visible)

    def shown(self, clock: Mapping[str, str]) -> str:
        """The user's query, its columns under the names they are shown by.

        Where rows are put in an order that the user left open, so they are here.
        """
        if self.ties_broken:
            return self._settled(clock)
        if not self.clocks:
            return self.sql
        return self._named(clock, tuple(name for name, _ in self.columns))

    def _settled(self, clock: Mapping[str, str]) -> str:
        pairs = zip(self.query.root.columns, self.columns, strict=True)
        shown = ", ".join(f"{quoted(id_)} AS {quoted(name)}" for id_, (name, _) in pairs)
        below = render(self.query.root, lambda scan: scan.source)
        return bound(f"SELECT {shown} FROM (\n{below}\n)", clock)

    def _named(self, clock: Mapping[str, str], columns: tuple[str, ...]) -> str:
        """A column without a name is called after its expression, and so after its value."""
        names = ", ".join(map(quoted, columns))
        sql = bound(self.asked.text, clock) if self.asked is not None else self.sql
        return f"SELECT * FROM (\n{sql}\n) AS __hw_query({names})"

    @property
    def is_opaque(self) -> bool:
        """Whether the whole query is kept as text, so that only a rebuild can refresh it."""
        return not self.query.root.columns
