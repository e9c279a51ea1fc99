"""The laws checked by another engine: thousands of views in the time Spark takes for dozens.

    python -m tests.laws.second_engine --views 2000

Old rows + change = new rows must hold whatever evaluates the SQL. DuckDB runs what sqlglot makes of
it; what it cannot run is counted and left to Spark. DuckDB is no dependency: without it, nothing.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import sqlglot

from headwater.define.lowering.lower import lower
from headwater.plan.deltas import LAWS
from headwater.plan.planning import Planning, changes_name, new_name, old_name
from headwater.plan.render import render
from headwater.testing.oracle import TableStates, netted
from headwater.vocabulary.algebra import Node
from headwater.vocabulary.names import WEIGHT
from tests.laws.shrink import Case, shrunk
from tests.laws.soak import DEPTH, random_case
from tests.laws.views import FAMILIES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FAMILIES_BOTH_KNOW = tuple(family for family in FAMILIES if family != "pivot")
_TYPES = {"string": "varchar"}
_EMPTY_TOTALS = re.compile("ROLLUP|CUBE|GROUPING SETS")
"""Of no rows DuckDB makes one total, Spark none; the laws agree all the same."""


class SecondEngine:
    """Checks that a query is lowered to the same rows, and that its change is the difference."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._db = connection
        for setting in ("threads=1", "default_null_order='nulls_first'", "TimeZone='UTC'"):
            self._db.execute(f"SET {setting}")

    def check(self, case: Case) -> str:
        """`ok`, or what is wrong; raises the engine's own error where it cannot run the SQL."""
        catalog = {n: tuple(c for c, _ in _columns(s.ddl)) for n, s in case.tables.items()}
        root = lower(case.sql, catalog).query.root
        self._tables(case.tables)
        for name, table in (("__new", new_name), ("__old", old_name)):
            self._make(name, render(root, lambda scan, table=table: table(scan.source)))
        self._make("__text", f"SELECT * FROM ({case.sql}) AS t({_quoted(root.columns)})")
        if self._differs(root.columns, "__text", "__new") and not _EMPTY_TOTALS.search(case.sql):
            return "lowered to other rows"
        return self._law(root, case.tables)

    def _law(self, root: Node, tables: dict[str, TableStates]) -> str:
        moved = (
            n
            for n, s in tables.items()
            if sorted(map(repr, s.before)) != sorted(map(repr, s.after))
        )
        planning = Planning(frozenset(moved), LAWS)
        change = planning.delta(root)
        for derived in planning.derived:
            self._make(derived.name, derived.sql)
        if change is None:
            return "change missed" if self._differs(root.columns, "__new", "__old") else "ok"
        names = _quoted(root.columns)
        left = (
            f"SELECT {names}, 1 AS w FROM __new UNION ALL SELECT {names}, -1 FROM __old "
            f'UNION ALL SELECT {names}, -"{WEIGHT}" FROM "{change}"'
        )
        return "wrong change" if self._rest(names, left) else "ok"

    def _tables(self, tables: dict[str, TableStates]) -> None:
        for name, states in tables.items():
            columns = _columns(states.ddl)
            weighted = [*columns, (WEIGHT, "bigint")]
            for relation, shape, rows in (
                (old_name(name), columns, states.before),
                (new_name(name), columns, states.after),
                (name, columns, states.after),
                (changes_name(name), weighted, netted(states)),
            ):
                typed = ", ".join(f'"{c}" {t}' for c, t in shape)
                self._db.execute(f'CREATE OR REPLACE TEMP TABLE "{relation}" ({typed})')
                if rows:
                    places = ", ".join("?" * len(shape))
                    insert = f'INSERT INTO "{relation}" VALUES ({places})'
                    self._db.executemany(insert, [list(row) for row in rows])

    def _make(self, name: str, sql: str) -> None:
        translated = sqlglot.transpile(sql, read="spark", write="duckdb")[0]
        self._db.execute(f'CREATE OR REPLACE TEMP TABLE "{name}" AS {translated}')

    def _differs(self, columns: tuple[str, ...], one: str, other: str) -> bool:
        names = _quoted(columns)
        both = f"SELECT {names}, 1 AS w FROM {one} UNION ALL SELECT {names}, -1 FROM {other}"
        return self._rest(names, both)

    def _rest(self, names: str, signed: str) -> bool:
        netting = f"SELECT {names} FROM ({signed}) GROUP BY {names} HAVING sum(w) <> 0"
        return bool(self._db.execute(netting).fetchall())


def _columns(ddl: str) -> list[tuple[str, str]]:
    parts = (part.strip().split(" ", 1) for part in re.split(r",\s*(?![^()]*\))", ddl))
    return [(name, _TYPES.get(type_, type_)) for name, type_ in parts]


def _quoted(columns: tuple[str, ...]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def soak(connection: DuckDBPyConnection, seeds: range, depth: int = DEPTH) -> Counter[str]:
    """Check random cases; what is wrong is made small and printed."""
    import duckdb

    engine, counted = SecondEngine(connection), Counter[str]()
    for seed in seeds:
        sql, tables = random_case(Random(seed), depth, FAMILIES_BOTH_KNOW)
        case = Case(sql.replace("it''s", "its"), tables)
        try:
            found = engine.check(case)
        except duckdb.Error:
            found = "not run"
        counted[found] += 1
        if found not in {"ok", "not run"}:
            small = shrunk(case, lambda c, found=found: _finds(engine, c, found))
            print(f"seed {seed}: {found}\n{small.script()}", flush=True)
    return counted


def _finds(engine: SecondEngine, case: Case, wanted: str) -> bool:
    try:
        return engine.check(case) == wanted
    except Exception:  # noqa: BLE001  (a smaller case that breaks otherwise is no smaller case)
        return False


def main() -> int:
    import duckdb

    options = argparse.ArgumentParser()
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--views", type=int, default=1000)
    options.add_argument("--depth", type=int, default=DEPTH)
    chosen = options.parse_args()
    seeds = range(chosen.first, chosen.first + chosen.views)
    counted = soak(duckdb.connect(), seeds, chosen.depth)
    print(dict(counted))
    return 0 if set(counted) <= {"ok", "not run"} else 1


if __name__ == "__main__":
    raise SystemExit(main())
