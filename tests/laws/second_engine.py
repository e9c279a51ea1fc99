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
from sqlglot import exp

from headwater.define.lowering.lower import lower
from headwater.plan.deltas import LAWS
from headwater.plan.deltas.clock import delta_of_clock
from headwater.plan.moved import moved_clocks
from headwater.plan.planning import Planning, changes_name, new_name, old_name
from headwater.plan.render import render
from headwater.testing.oracle import TableStates, changes
from headwater.vocabulary.algebra import Node
from headwater.vocabulary.clocks import bound
from headwater.vocabulary.dialect import parsed, written
from headwater.vocabulary.names import WEIGHT
from tests.laws.shrink import Case, shrunk
from tests.laws.soak import DEPTH, random_case
from tests.laws.views import FAMILIES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FAMILIES_BOTH_KNOW = tuple(family for family in FAMILIES if family != "pivot")
BEFORE, NOW = {"unix_timestamp": "1"}, {"unix_timestamp": "2"}
"""What the clock tells: a small number, so that it can stand for any."""

_EMPTY_TOTALS = re.compile("ROLLUP|CUBE|GROUPING SETS|count_if")
"""Of no rows DuckDB makes one total, Spark none; it counts them as NULL, Spark as 0."""


class SecondEngine:
    """Checks that a query is lowered to the same rows, and that its change is the difference."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._db = connection
        for setting in ("threads=1", "default_null_order='nulls_first'", "TimeZone='UTC'"):
            self._db.execute(f"SET {setting}")

    def check(self, case: Case) -> str:
        """`ok`, or what is wrong; raises the engine's own error where it cannot run the SQL."""
        catalog = {n: tuple(c for c, _ in _columns(s.ddl)) for n, s in case.tables.items()}
        lowered = lower(case.sql, catalog)
        root, text = lowered.query.root, bound(lowered.asked.text, NOW)
        self._tables(case.tables)
        for name, table, clock in (("__new", new_name, NOW), ("__old", old_name, BEFORE)):
            sql = render(root, lambda scan, table=table: table(scan.source))
            self._make(name, bound(sql, clock))
        self._make("__text", f"SELECT * FROM ({text}) AS t({_quoted(root.columns)})")
        if self._differs(root.columns, "__text", "__new") and not _EMPTY_TOTALS.search(case.sql):
            return "lowered to other rows"
        return self._law(root, case.tables)

    def _law(self, root: Node, tables: dict[str, TableStates]) -> str:
        moved = (
            n
            for n, s in tables.items()
            if sorted(map(repr, s.before)) != sorted(map(repr, s.after))
        )
        changed = frozenset(moved) | moved_clocks(BEFORE, NOW)
        clocks = (NOW, BEFORE)
        planning = Planning(changed, LAWS, frozenset(), delta_of_clock, *clocks)
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
                (changes_name(name), weighted, changes(states)),
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


def asking(random: Random, sql: str) -> str:
    """The query with the clock in the place of some of its numbers."""
    tree = parsed(sql)
    numbers = [n for n in tree.find_all(exp.Literal) if _is_operand(n)]
    for number in random.sample(numbers, min(len(numbers), 2)):
        number.replace(exp.Anonymous(this="unix_timestamp"))
    return written(tree)


def _is_operand(number: exp.Literal) -> bool:
    inside = isinstance(number.parent, (exp.Predicate, exp.Add, exp.Mul, exp.Sub, exp.Mod))
    return inside and number.is_int and not number.find_ancestor(exp.Limit, exp.Order)


def _columns(ddl: str) -> list[tuple[str, str]]:
    parts = (part.strip().split(" ", 1) for part in re.split(r",\s*(?![^()<>]*[)>])", ddl))
    return [(name, exp.DataType.build(type_, "spark").sql("duckdb")) for name, type_ in parts]


def _quoted(columns: tuple[str, ...]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def soak(connection: DuckDBPyConnection, seeds: range, depth: int = DEPTH) -> Counter[str]:
    """Check random cases; what is wrong is made small and printed."""
    import duckdb

    engine, counted = SecondEngine(connection), Counter[str]()
    for seed in seeds:
        sql, tables = random_case(Random(seed), depth, FAMILIES_BOTH_KNOW)
        case = Case(asking(Random(seed), sql.replace("it''s", "its")), tables)
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
