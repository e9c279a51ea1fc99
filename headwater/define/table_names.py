"""The tables a query reads.

    WITH recent AS (SELECT * FROM orders) SELECT * FROM recent JOIN customers   -- orders, customers
    WITH orders AS (SELECT * FROM orders) SELECT * FROM orders                  -- orders, once

A CTE hides a table of its name from what comes after it, not from its own body (unless RECURSIVE)
and not outside the query that declares it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from headwater.define.kind import canonical
from headwater.define.query_tree import offset_of

Hidden = frozenset[str]
Declared = dict[str, tuple[exp.Expr, "Declared"]]
"""CTEs by name: what each reads, and the CTEs that stand before it."""


@dataclass(frozen=True)
class TableRef:
    """One mention of a table: the parts of its name as written, and where in the query's text."""

    parts: tuple[str, ...]
    offset: int

    @property
    def name(self) -> str:
        return ".".join(self.parts)

    @property
    def is_qualified(self) -> bool:
        return len(self.parts) > 1


def table_refs(tables: Iterable[exp.Table]) -> tuple[TableRef, ...]:
    """The mentions of tables in the order of the text."""
    return tuple(sorted(map(_ref, tables), key=lambda ref: ref.offset))


def tables_read(tree: exp.Expr) -> Iterator[exp.Table]:
    """The nodes that read a table by name; CTEs, table functions and hints are none."""
    waiting: list[tuple[exp.Expr, Hidden]] = [(tree, frozenset())]
    while waiting:
        node, hidden = waiting.pop()
        if isinstance(node, exp.Table) and _is_named(node) and not _is_hidden(node, hidden):
            yield node
        if not isinstance(node, exp.Hint):
            waiting.extend(_inside(node, hidden))


def tables_needed(tree: exp.Expr) -> Iterator[exp.Table]:
    """Those of them that are not only read by CTEs that nothing reads."""
    waiting: list[tuple[exp.Expr, Declared]] = [(tree, {})]
    opened: set[int] = set()
    while waiting:
        node, declared = waiting.pop()
        if isinstance(node, exp.Table) and _is_named(node):
            cte = None if node.args.get("db") else declared.get(canonical(node.name))
            if cte is None:
                yield node
            elif id(cte) not in opened:
                opened.add(id(cte))
                waiting.append(cte)
        if not isinstance(node, exp.Hint):
            waiting.extend(_outside_ctes(node, declared))


def _outside_ctes(node: exp.Expr, declared: Declared) -> Iterator[tuple[exp.Expr, Declared]]:
    """The parts of a node but its CTEs, each with the CTEs that its names may mean."""
    clause = node.args.get("with_")
    if isinstance(clause, exp.With):
        declared = dict(declared)
        for cte in clause.expressions:
            around = declared if clause.args.get("recursive") else dict(declared)
            declared[canonical(cte.alias)] = (cte.this, around)
    for child in node.iter_expressions():
        if child is not clause:
            yield child, declared


def _inside(node: exp.Expr, hidden: Hidden) -> Iterator[tuple[exp.Expr, Hidden]]:
    """The parts of a node, each with the names hidden from it."""
    declared = node.args.get("with_")
    if isinstance(declared, exp.With):
        for cte in declared.expressions:
            name = canonical(cte.alias)
            own = {name} if declared.args.get("recursive") else set()
            yield cte.this, hidden | own
            hidden = hidden | {name}
    for child in node.iter_expressions():
        if child is not declared:
            yield child, hidden


def _is_named(table: exp.Table) -> bool:
    return isinstance(table.this, (exp.Identifier, exp.Dot))


def _is_hidden(table: exp.Table, hidden: Hidden) -> bool:
    return not table.args.get("db") and canonical(table.name) in hidden


def _ref(table: exp.Table) -> TableRef:
    offset = min(offset_of(part) for part in table.parts)
    return TableRef(tuple(part.name for part in table.parts), offset)
