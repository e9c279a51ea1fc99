"""Parts of a query that are kept as text: over tables that can be exchanged, with their CTEs.

    WITH orders AS (SELECT * FROM orders), ...  SELECT ... FROM orders        -- not understood
    WITH orders AS (SELECT * FROM __hw_leaf_1 AS orders)  SELECT ... FROM orders   -- kept

A name means in the text what it means in the query. Sources have names of ours there, so that old,
new and current versions can stand in for them; CTEs of the query around a part come along.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from headwater.define.lowering.context import Lowering
from headwater.define.lowering.expressions import check_function
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.scope import Entry, Scope
from headwater.define.table_names import tables_read
from headwater.vocabulary.algebra import Node, Opaque, Scan


def kept_select(
    context: Lowering, tree: exp.Select, refusal: NotLoweredError
) -> tuple[Node, Scope]:
    """The SELECT as text; its result's columns are known by position."""
    names = _shown_names(tree, refusal)
    query, leaves = _over_leaves(context, tree)
    ids = tuple(context.fresh(name) for name in names)
    sure = [bool(_shown_name(written)) for written in tree.expressions]
    node = Opaque(query, leaves, ids, _reason(query, refusal))
    entries = zip(names, ids, sure, strict=True)
    return node, Scope(tuple(Entry(n, i, None, sure=s) for n, i, s in entries))


def kept_whole(context: Lowering, tree: exp.Expr, refusal: NotLoweredError) -> tuple[Node, Scope]:
    """The whole view as text; nobody above it needs to know its columns."""
    query, leaves = _over_leaves(context, tree)
    return Opaque(query, leaves, (), _reason(query, refusal)), Scope()


def _shown_names(tree: exp.Select, refusal: NotLoweredError) -> list[str]:
    names: list[str] = []
    for index, written in enumerate(tree.expressions):
        if written.is_star or isinstance(written, exp.Aliases):
            raise refusal
        names.append(_shown_name(written) or f"_c{index}")
    return names


def _shown_name(written: exp.Expr) -> str:
    named = isinstance(written, (exp.Alias, exp.Column, exp.Dot))
    return written.alias_or_name if named else ""


def _reason(query: exp.Expr, refusal: NotLoweredError) -> str:
    """What cannot be computed again outweighs any other reason, and a clock all of them."""
    found = {found.code: found for found in _unrepeatable(query)}
    worst = found.get("CLOCK_DEPENDENT") or found.get("NONDETERMINISTIC") or refusal
    return f"{worst.code}: {worst.text}"


def _unrepeatable(query: exp.Expr) -> Iterator[NotLoweredError]:
    """Why the old value of a text may not be had once more."""
    if query.find(exp.TableSample):
        yield NotLoweredError("NONDETERMINISTIC", "TABLESAMPLE takes other rows each time")
    for call in query.find_all(exp.Func):
        try:
            check_function(call)
        except NotLoweredError as found:
            yield found


def _over_leaves(context: Lowering, tree: exp.Expr) -> tuple[exp.Expr, tuple[Scan, ...]]:
    copied = tree.copy()
    ctes = [cte for query in (copied, *context.ctes) for cte in query.find_all(exp.CTE)]
    naming = _Naming({cte.alias.lower() for cte in ctes} | context.catalog.keys())
    naming.name_tables(context, copied)
    if naming.taken_along:
        clause = copied.args.get("with_") or exp.With(expressions=[])
        clause.set("expressions", [*naming.taken_along, *clause.expressions])
        copied.set("with_", clause)
    return copied, tuple(naming.leaves.values())


class _Naming:
    """Says in a copied text which tables and CTEs its names mean.

    No name that is `used` anywhere is given to a CTE that is taken along: it could mean another
    there.
    """

    def __init__(self, used: set[str]) -> None:
        self.leaves: dict[str, Scan] = {}
        self.taken_along: list[exp.CTE] = []
        self._used = used
        self._called: dict[int, str] = {}  # a CTE around the text, by its place -> its name in it

    def name_tables(self, context: Lowering, text: exp.Expr) -> None:
        for table in list(tables_read(text)):
            is_plain = isinstance(table.this, exp.Identifier) and not table.args.get("db")
            name = self._meaning(context, table.name) if is_plain else None
            if name is None:
                continue
            if not table.alias:
                own_name = exp.to_identifier(table.name, quoted=True)
                table.set("alias", exp.TableAlias(this=own_name))
            table.set("this", exp.to_identifier(name))

    def _meaning(self, context: Lowering, name: str) -> str | None:
        found = context.cte(name)
        if found is not None:
            return self._along(*found)
        source = name.lower()
        if source not in context.catalog:
            return None
        if source not in self.leaves:
            self.leaves[source] = context.scan(source, source)[0]
        return self.leaves[source].stand_in

    def _along(self, cte: exp.CTE, inside: Lowering) -> str:
        place = len(inside.ctes)
        if place not in self._called:
            copied = cte.copy()
            self.name_tables(inside, copied.this)
            name = self._free_name(cte.alias)
            copied.args["alias"].set("this", exp.to_identifier(name, quoted=True))
            self.taken_along.append(copied)
            self._called[place] = name
        return self._called[place]

    def _free_name(self, wanted: str) -> str:
        name, tries = wanted, 1
        while name.lower() in self._used:
            tries += 1
            name = f"{wanted}_{tries}"
        self._used.add(name.lower())
        return name
