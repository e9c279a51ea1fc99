"""What the coverage matrix has rows for: one query per construct, and the tables they read."""
# ruff: noqa: INP001  (a program beside the pages it writes)

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from headwater.define.query import examine
from headwater.plan.view import Columns
from tests.laws.corpus import CORPUS, R, S, T
from tests.tpch.queries import TPCH
from tests.tpch.schema import DDL

OF_TPCH = "TPC-H: "
_OF_CHANCE = {
    "unrepeatable: rand in select": "SELECT k, rand() AS x FROM r",
    "unrepeatable: uuid in select": "SELECT k, uuid() AS x FROM r",
    "unrepeatable: sample": "SELECT k FROM r TABLESAMPLE (10 PERCENT)",
    "unrepeatable: first without order": "SELECT g, first(k) AS x FROM r GROUP BY g",
}
_OF_THE_DAY = {
    "unrepeatable: current_date in where": "SELECT k FROM r WHERE d >= current_date() - 30"
}

CONSTRUCTS: Mapping[str, str] = {
    **CORPUS,
    **_OF_CHANCE,
    **_OF_THE_DAY,
    **{f"{OF_TPCH}{name}": sql for name, sql in TPCH.items()},
}
"""`family: construct` -> its query."""

UNCOMPARED = frozenset(_OF_CHANCE)
"""Two runs of such a query differ, so there is nothing that a technique could be held against."""


def columns_of(ddl: str) -> Columns:
    """`a int, b struct<c:int,d:int>` as pairs."""
    found, depth, start = [], 0, 0
    for place, letter in enumerate(f"{ddl},"):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            name, _, type_ = ddl[start:place].strip().partition(" ")
            found.append((name, type_))
            start = place + 1
    return tuple(found)


@cache
def _catalog() -> dict[str, Columns]:
    every = {"r": R, "s": S, "t": T, **DDL}
    return {name: columns_of(ddl) for name, ddl in every.items()}


def sources_of(sql: str) -> dict[str, Columns]:
    """The tables that a construct reads."""
    named = {name.lower() for name in examine(sql).tables}
    return {name: columns for name, columns in _catalog().items() if name in named}
