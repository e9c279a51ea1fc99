"""The width of SQL as a list: one query per construct, in the words that people use.

Each is run against Spark by `test_corpus.py`; adding one is two lines in `corpus_sql/`. Beside them
are small tables with NULLs and duplicates, and the ways in which they change.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

from headwater.testing.oracle import TableStates

R = (
    "k int, g int, c0 decimal(10,2), c1 double, c2 string, d date, ts timestamp, "
    "arr array<int>, st struct<a:int,b:string>, m map<string,int>"
)
S = "k int, g int, c0 string, n bigint, f boolean"
T = "k int, v int, w string"


def _read(family: Path) -> dict[str, str]:
    found = {}
    for part in family.read_text().split("-- ")[1:]:
        name, _, sql = part.partition("\n")
        found[f"{family.stem}: {name.strip()}"] = sql.strip().removesuffix(";")
    return found


CORPUS = {
    name: sql
    for family in sorted((Path(__file__).parent / "corpus_sql").glob("*.sql"))
    for name, sql in _read(family).items()
}
"""`family: construct` -> a query over r, s and t."""

_INSTANT = dt.datetime(2024, 1, 1, 5, 30, tzinfo=dt.UTC)


def _r(k: int | None, g: int | None, word: str | None, *numbers: int) -> tuple[Any, ...]:
    half = None if k is None else Decimal(k) / 2
    day = dt.date(2023 + (g or 0) % 2, 1 + (k or 0) % 3, 3)
    struct = None if word is None else (k, word)
    map_ = [("a", 1), ("b", n)] if (n := g) else [("a", 2)]
    rest = (day, _INSTANT, list(numbers), struct, map_)
    return (k, g, half, None if g is None else g * 0.5, word, *rest)


_R = (
    [_r(1, 1, "a", 1), _r(1, 1, "a", 1), _r(2, 1, "b"), _r(3, None, None, 7), _r(4, 2, "a", 3, 4)],
    [_r(1, 1, "a", 1), _r(2, 2, "b", 1), _r(3, None, None), _r(5, 1, "a", 7), _r(None, None, "")],
)
_S = (
    [(1, 1, "a", 5, True), (2, 2, '{"a": 1}', 7, False), (2, 2, '{"a": 1}', 7, False)],
    [
        (1, 2, "a", 5, True),
        (2, 2, '{"a": 1}', 7, False),
        (4, 3, "a", 1, None),
        (3, None, "", 0, None),
    ],
)
_T = (
    [(1, 1, "x"), (2, 3, "y"), (3, None, "x")],
    [(1, 2, "x"), (2, 3, "y"), (5, 5, None)],
)


def table_states(moved: str) -> dict[str, TableStates]:
    """Only the named tables change, unless one of the other words of CHANGES is given."""
    found = {}
    for name, ddl, (before, after) in (("r", R, _R), ("s", S, _S), ("t", T, _T)):
        if moved == "filled":
            found[name] = TableStates(ddl, [], before)
        elif moved == "emptied":
            found[name] = TableStates(ddl, before, before if name == "r" else [])
        elif moved == "gained":
            found[name] = TableStates(ddl, before, before + after, inserts_only=True)
        else:
            found[name] = TableStates(ddl, before, after if name in moved else before)
    return found


CHANGES = ("rst", "gained", "s", "emptied", "filled", "r", "t")
"""The tables that change, some rows in every way; or all but `r` are emptied, all are filled from
nothing, all only gain rows."""
