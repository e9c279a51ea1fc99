"""Which column a name means.

Spark's rules: names are compared without case; `a.b` is column b of relation a if there is one,
else field b of column a; an unqualified name must be found in exactly one relation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from headwater.define.lowering.refusal import (
    NameProblem,
    NameProblemError,
    NotLoweredError,
    position,
)
from headwater.vocabulary.algebra import column

_GROUPING_ID = "grouping__id"


@dataclass(frozen=True)
class Entry:
    """A column in scope. Hidden ones (the lost side of USING) answer only to their qualifier."""

    name: str
    id: str
    relation: str | None
    hidden: bool = False
    sure: bool = True  # False: Spark makes the name up, and we may know it wrongly

    def answers(self, name: str) -> bool:
        return self.name.lower() == name.lower()


@dataclass(frozen=True)
class Scope:
    """The columns that a clause may name, in the order in which `*` shows them.

    `relation.*` shows the hidden ones, too, and before the others.
    """

    entries: tuple[Entry, ...] = ()
    outer: Scope | None = None

    def beside(self, other: Scope) -> Scope:
        return replace(self, entries=self.entries + other.entries)

    def renamed(self, alias: str | None, names: tuple[str, ...] = ()) -> Scope:
        """The scope seen through `AS alias(names...)`."""
        shown = [entry for entry in self.entries if not entry.hidden]
        labels = names or tuple(entry.name for entry in shown)
        if len(labels) != len(shown):
            raise NameProblemError(
                NameProblem(
                    "COLUMN_COUNT",
                    f"{alias} lists {len(labels)} columns, the relation has {len(shown)}",
                    1,
                    1,
                    str(alias),
                    (),
                )
            )
        return Scope(
            tuple(
                Entry(label, entry.id, alias, sure=entry.sure or bool(names))
                for label, entry in zip(labels, shown, strict=True)
            ),
            self.outer,
        )

    def star(self, relation: str | None = None) -> tuple[Entry, ...]:
        if relation is None:
            return tuple(entry for entry in self.entries if not entry.hidden)
        own = [entry for entry in self.entries if _same(entry.relation, relation)]
        return tuple(sorted(own, key=lambda entry: not entry.hidden))

    def find(self, parts: list[str]) -> tuple[str, list[str]] | None:
        """The id a dotted name means and the struct fields left over; None if nothing answers."""
        if len(parts) > 1:
            qualified = [
                entry.id
                for entry in self.entries
                if _same(entry.relation, parts[0]) and entry.answers(parts[1])
            ]
            if qualified:
                return _only(qualified, ".".join(parts)), parts[2:]
        plain = [e.id for e in self.entries if e.answers(parts[0]) and not e.hidden]
        if plain:
            return _only(plain, parts[0]), parts[1:]
        return None

    def names(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.entries)


def resolve_column(node: exp.Column, scope: Scope) -> exp.Expr | None:
    """The expression over ids that a column reference means, or None if nothing answers."""
    parts = [part.name for part in node.parts]
    try:
        found = scope.find(parts)
    except NameProblemError as ambiguous:
        line, start = position(node)
        placed = replace(ambiguous.problem, line=line, column=start)
        raise NameProblemError(placed) from ambiguous
    if found is None:
        return None
    id_, fields = found
    resolved: exp.Expr = column(id_)
    for field in fields:
        resolved = exp.Dot(this=resolved, expression=exp.to_identifier(field, quoted=True))
    return resolved


def unknown_column(node: exp.Column, scope: Scope) -> NotLoweredError:
    """The user's mistake, unless a column in scope has a name that only Spark knows."""
    here: Scope | None = scope
    while here is not None:
        if not all(entry.sure for entry in here.entries):
            return NotLoweredError("NAMES_UNCLEAR", f"`{node.name}` may be a name that Spark made")
        here = here.outer
    if node.name.lower() == _GROUPING_ID:
        return NotLoweredError("GROUPING_SETS", f"`{node.name}` is an old name of grouping_id()")
    line, start = position(node)
    written = ".".join(part.name for part in node.parts)
    return NameProblemError(
        NameProblem(
            "UNKNOWN_COLUMN",
            f"no column `{written}` in scope",
            line,
            start,
            node.name,
            scope.names(),
        )
    )


def _same(relation: str | None, name: str) -> bool:
    return relation is not None and relation.lower() == name.lower()


def _only(ids: list[str], written: str) -> str:
    if len(set(ids)) > 1:
        raise NameProblemError(
            NameProblem(
                "AMBIGUOUS_COLUMN", f"`{written}` may mean several columns", 1, 1, written, ()
            )
        )
    return ids[0]
