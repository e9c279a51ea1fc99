"""Make a failing case small: fewer rows, then less SQL, while it goes on failing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from headwater.testing.oracle import TableStates, Times
from headwater.vocabulary.dialect import parsed, written
from tests.laws.clock_words import times_of

_CLAUSES = ("where", "having", "qualify", "limit", "offset", "order", "distinct", "laterals")
_MOST_TRIES = 150


@dataclass(frozen=True)
class Case:
    """A query and what happens to its tables."""

    sql: str
    tables: dict[str, TableStates]

    @property
    def times(self) -> Times | None:
        return times_of(self.sql)

    def script(self) -> str:
        """Python that shows the failure."""
        tables = ",\n".join(f"    {name!r}: {states!r}" for name, states in self.tables.items())
        return (
            "import datetime\nfrom decimal import Decimal\n"
            "from headwater.config import load_config\n"
            "from headwater.execute.session import build_session\n"
            "from headwater.testing.oracle import Oracle, TableStates, Times\n\n"
            "nan = float('nan')\n"
            f"tables = {{\n{tables}\n}}\n"
            f"sql = {self.sql!r}\n"
            "spark = build_session(load_config(None, {}, {}))\n"
            f"print(Oracle(spark).check(sql, tables, {self.times!r}))\n"
        )


def shrunk(case: Case, fails: Callable[[Case], bool], tries: int = _MOST_TRIES) -> Case:
    """The smallest failing case that is found with so many tries."""
    left = tries
    found = True
    while found and left > 0:
        found = False
        for smaller in (*_less_sql(case), *_fewer_rows(case)):
            left -= 1
            if left < 0:
                break
            if fails(smaller):
                case, found = smaller, True
                break
    return case


def _fewer_rows(case: Case) -> Iterator[Case]:
    for name, states in case.tables.items():
        for size in (max(len(states.before), len(states.after), 1), 2, 1):
            for start in range(0, len(states.before), size):
                kept = states.before[:start] + states.before[start + size :]
                yield _with(case, name, replace(states, before=kept))
            for start in range(0, len(states.after), size):
                kept = states.after[:start] + states.after[start + size :]
                yield _with(case, name, replace(states, after=kept))


def _with(case: Case, name: str, states: TableStates) -> Case:
    grown = all(states.after.count(row) >= states.before.count(row) for row in states.before)
    inserts = states.inserts_only and grown
    return replace(case, tables={**case.tables, name: replace(states, inserts_only=inserts)})


def _less_sql(case: Case) -> Iterator[Case]:
    """Smaller queries: a part of it, or all of it without a clause or an item."""
    tree = parsed(case.sql)
    seen = {case.sql}
    for smaller in (*_parts(tree), *_without(tree)):
        text = written(smaller)
        if len(text) < len(case.sql) and text not in seen:
            seen.add(text)
            yield replace(case, sql=text)


def _parts(tree: exp.Expr) -> Iterator[exp.Expr]:
    found = tree.find_all(exp.Select, exp.Union, exp.Except, exp.Intersect)
    yield from sorted((node for node in found if node is not tree), key=lambda n: -len(written(n)))


def _without(tree: exp.Expr) -> Iterator[exp.Expr]:
    for index, node in enumerate(tree.walk()):
        if isinstance(node, exp.Select):
            yield from _lighter(tree, index, node)
        elif isinstance(node, exp.Connector):
            for side in ("this", "expression"):
                copied, here = _at(tree, index)
                here.replace(here.args[side].copy())
                yield copied


def _lighter(tree: exp.Expr, index: int, select: exp.Select) -> Iterator[exp.Expr]:
    for clause in _CLAUSES:
        if select.args.get(clause):
            copied, here = _at(tree, index)
            here.set(clause, None)
            yield copied
    for position in range(len(select.expressions) if len(select.expressions) > 1 else 0):
        copied, here = _at(tree, index)
        kept = [e for n, e in enumerate(here.expressions) if n != position]
        here.set("expressions", kept)
        yield copied


def _at(tree: exp.Expr, index: int) -> tuple[exp.Expr, exp.Expr]:
    copied = tree.copy()
    return copied, next(node for n, node in enumerate(copied.walk()) if n == index)
