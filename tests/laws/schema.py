"""Random tables: a few columns of every type, small domains, NULLs and duplicates."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

TYPES = {
    "int": [None, -1, 0, 1, 2, 3],
    "bigint": [None, 0, 1, 5, 2**40, -7],
    "decimal(10,2)": [None, Decimal("0.00"), Decimal("1.50"), Decimal("-2.25"), Decimal("99.99")],
    "double": [None, 0.0, -0.0, 0.1, 0.7, 0.25, 1024.0, float("nan"), -3.3],
    "string": [None, "", "a", "b", "it's", "A"],
    "date": [None, dt.date(2024, 1, 31), dt.date(2024, 2, 29), dt.date(1999, 12, 31)],
    "boolean": [None, True, False],
    "timestamp": [
        None,
        dt.datetime(2024, 1, 1, 0, 0, tzinfo=dt.UTC),
        dt.datetime(2024, 6, 1, 12, 30, 15, tzinfo=dt.UTC),
    ],
}
RARE = {
    "smallint": [None, -1, 0, 1, 300],
    "float": [None, 0.0, -0.0, 0.5, float("nan"), 2.25],
    "decimal(38,10)": [None, Decimal(0), Decimal("0.0000000001"), Decimal("-12345678.5")],
    "timestamp_ntz": [None, dt.datetime(2024, 1, 1), dt.datetime(2024, 6, 1, 12, 30, 15)],  # noqa: DTZ001
    "binary": [None, b"", b"a", b"\x00\xff"],
    "array<int>": [None, [], [1], [2, None, 1], [1]],
    "struct<a:int,b:string>": [None, {"a": 1, "b": "x"}, {"a": None, "b": None}],
    "map<string,int>": [None, [], [("a", 1)], [("a", 1), ("b", None)], [("b", None), ("a", 1)]],
}
"""Columns of these types are one in five."""

WHOLE = ("int", "smallint", "bigint")
FLOATING = ("double", "float")
NUMERIC = (*WHOLE, "decimal(10,2)", "decimal(38,10)", *FLOATING)

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Column:
    name: str
    type: str


@dataclass(frozen=True)
class Table:
    """A source: columns `k` and `g` that other tables join on, and some of any type."""

    name: str
    columns: tuple[Column, ...]

    @property
    def ddl(self) -> str:
        return ", ".join(f"{c.name} {c.type}" for c in self.columns)

    def of_type(self, *types: str) -> list[Column]:
        return [c for c in self.columns if c.type in types]


def random_tables(random: Random) -> tuple[Table, ...]:
    """Two or three tables; every one has an int `k` and an int `g`."""
    tables = []
    for name in ("r", "s", "t")[: random.choice([2, 2, 3])]:
        columns = [Column("k", "int"), Column("g", "int")]
        columns += [
            Column(f"c{number}", random.choice(list(RARE if random.random() < 0.2 else TYPES)))
            for number in range(random.randint(1, 4))
        ]
        tables.append(Table(name, tuple(columns)))
    return tuple(tables)


def random_row(random: Random, table: Table) -> Row:
    return tuple(random.choice((TYPES | RARE)[c.type]) for c in table.columns)


def random_rows(random: Random, table: Table, most: int = 8) -> list[Row]:
    """Sometimes none, sometimes with exact duplicates."""
    rows = [random_row(random, table) for _ in range(random.choice([0, 1, 3, most, most]))]
    if rows and random.random() < 0.5:
        rows += random.choices(rows, k=2)
    return rows


def changed_rows(random: Random, table: Table, rows: list[Row]) -> list[Row]:
    """The same table some commits later: deletes, updates that may move keys, inserts."""
    if random.random() < 0.1:
        return []
    after = [row for row in rows if random.random() > 0.25]
    for index, row in enumerate(after):
        if random.random() < 0.3:
            fresh = random_row(random, table)
            keep = random.randrange(len(row))
            after[index] = tuple(
                old if i == keep or random.random() < 0.5 else new
                for i, (old, new) in enumerate(zip(row, fresh, strict=True))
            )
    after += [random_row(random, table) for _ in range(random.choice([0, 1, 2, 3]))]
    if after and random.random() < 0.3:
        after.append(random.choice(after))
    return after


def added_rows(random: Random, table: Table, rows: list[Row]) -> list[Row]:
    """The same table after inserts only."""
    return rows + [random_row(random, table) for _ in range(random.choice([0, 1, 3]))]
