"""The relations of one plan while it is made."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace

from headwater.plan.alike import likeness
from headwater.plan.consolidate import difference
from headwater.plan.exact import Delicate
from headwater.plan.moved import asks_anew, is_moved
from headwater.plan.render import render
from headwater.plan.steps import Derive
from headwater.vocabulary.algebra import Node, Scan
from headwater.vocabulary.clocks import bound
from headwater.vocabulary.names import WEIGHT, quoted

_DERIVED = re.compile(r"\b__hw_\d+_\w+")
_DEAR = re.compile(
    r"\bJOIN\b|\bGROUP BY\b|\bDISTINCT\b|\bOVER\b|\b__hw_(?:new|old)_", re.IGNORECASE
)

Law = Callable[["Planning", Node], str | None]


def new_name(source: str) -> str:
    return f"__hw_new_{source}"


def old_name(source: str) -> str:
    return f"__hw_old_{source}"


def changes_name(source: str) -> str:
    return f"__hw_changes_{source}"


@dataclass
class Planning:
    """Names relations, remembers each operator's change, and knows which sources moved."""

    changed: frozenset[str]
    laws: Mapping[type[Node], Law]
    large: frozenset[str] = frozenset()  # sources that are worth reading in part
    clock_law: Law | None = None  # of operators that compute with a clock that moved
    clock: Mapping[str, str] = field(default_factory=dict)  # what it tells, as literals
    clock_before: Mapping[str, str] = field(default_factory=dict)
    fragile: Delicate = field(default_factory=dict)  # ids whose values are compared with care
    fragile_columns: Delicate = field(default_factory=dict)  # likewise the table's columns
    derived: list[Derive] = field(default_factory=list)
    snapshots: set[tuple[str, bool]] = field(default_factory=set)  # (source, is new)
    uses_changes: set[str] = field(default_factory=set)
    _deltas: dict[int, str | None] = field(default_factory=dict)
    _kept: list[Node] = field(default_factory=list)
    _alike: dict[Hashable, tuple[str, tuple[str, ...]]] = field(default_factory=dict)

    def moved(self, node: Node) -> bool:
        return is_moved(node, self.changed)

    def new(self, node: Node) -> str:
        return bound(f"({render(node, self._new_leaf)})", self.clock)

    def old(self, node: Node) -> str:
        return self.before(f"({render(node, self._old_leaf)})")

    def before(self, sql: str) -> str:
        """A text by the clock of the view's frontier; any other is bound to this refresh's."""
        return bound(sql, self.clock_before)

    def difference(self, columns: tuple[str, ...], after: str, before: str) -> str:
        """The signed rows between two states of an operator."""
        return difference(columns, after, before, self.fragile)

    def delta(self, node: Node) -> str | None:
        """The relation of an operator's signed rows; None where nothing below it moved."""
        if not self.moved(node):
            return None
        if id(node) not in self._deltas:
            self._kept.append(node)  # an id is only unique while its object lives
            self._deltas[id(node)] = self._made(node)
        return self._deltas[id(node)]

    def _made(self, node: Node) -> str | None:
        """By the operator's law, or from the change of a part that is alike."""
        like = likeness(node)
        if like is None or like not in self._alike:
            made = self._law(node)(self, node)
            if like is not None and made is not None:
                self._alike[like] = (made, node.columns)
            return made
        name, columns = self._alike[like]
        self._keep(name)
        pairs = zip(columns, node.columns, strict=True)
        renamed = ", ".join(f"{quoted(first)} AS {quoted(ours)}" for first, ours in pairs)
        return self.relation("alike", f"SELECT {renamed}, {quoted(WEIGHT)} FROM {quoted(name)}")

    def keep_if_dear(self, name: str) -> None:
        """A relation is read once more: worth keeping, unless it only passes kept rows on."""
        if not self._passes_on(name):
            self._keep(name)

    def _passes_on(self, name: str) -> bool:
        step = next((step for step in self.derived if step.name == name), None)
        if step is None or step.once:
            return True
        below = {found for found in _DERIVED.findall(step.sql) if found != name}
        return _DEAR.search(step.sql) is None and all(map(self._passes_on, below))

    def _keep(self, name: str) -> None:
        """Two will read it."""
        for at, step in enumerate(self.derived):
            if step.name == name:
                self.derived[at] = replace(step, once=True)

    def _law(self, node: Node) -> Law:
        if self.clock_law is not None and asks_anew(node, self.changed):
            return self.clock_law
        return self.laws[type(node)]

    def relation(self, hint: str, sql: str, *, once: bool = False) -> str:
        name = f"__hw_{len(self.derived) + 1}_{hint}"
        self.derived.append(Derive(name, bound(sql, self.clock), once))
        return name

    def changes_of(self, source: str) -> str:
        self.uses_changes.add(source)
        return changes_name(source)

    def _new_leaf(self, scan: Scan) -> str:
        self.snapshots.add((scan.source, True))
        return new_name(scan.source)

    def _old_leaf(self, scan: Scan) -> str:
        if scan.source not in self.changed:
            return self._new_leaf(scan)
        self.snapshots.add((scan.source, False))
        return old_name(scan.source)
