"""TPC-H's refresh functions on rows: new orders come with their lines, old ones go."""

from __future__ import annotations

from decimal import Decimal

from headwater.testing.oracle import TableStates
from tests.tpch.data import COMPLAINTS, Rows, Tables, Thinned
from tests.tpch.schema import DDL

NEW_KEYS = 10_000_000
"""Added to the key of an order for its copy."""


def states(before: Tables, after: Tables, *, inserts_only: bool = False) -> dict[str, TableStates]:
    return {
        name: TableStates(ddl, before[name], after[name], inserts_only) for name, ddl in DDL.items()
    }


def rf1(data: Thinned) -> Tables:
    """New orders, alike to some there are; one by a customer who never ordered before."""
    tables = data.tables
    orders = [_order(row) for row in tables["orders"] if row[0] in data.copied]
    orders[-1] = (orders[-1][0], data.idle, *orders[-1][2:])
    lines = [_line(row) for row in tables["lineitem"] if row[0] in data.copied]
    new = {"orders": tables["orders"] + orders, "lineitem": tables["lineitem"] + lines}
    return {**tables, **new}


def _order(row: tuple) -> tuple:
    return (row[0] + NEW_KEYS, *row[1:])


def _line(row: tuple) -> tuple:
    dearer = row[5] + Decimal("1.25")
    return (row[0] + NEW_KEYS, *row[1:5], dearer, *row[6:])


def rf2(data: Thinned, tables: Tables) -> Tables:
    """Some orders go, with all their lines."""
    kept = {
        name: [row for row in tables[name] if row[0] not in data.deleted]
        for name in ("orders", "lineitem")
    }
    return {**tables, **kept}


def dictionaries(tables: Tables) -> Tables:
    """What the refresh functions leave alone: prices and stocks, a supplier, some customers."""
    offers: Rows = []
    for number, row in enumerate(tables["partsupp"]):
        part, supplier, stock, cost, comment = row
        if number % 11 == 0:
            continue
        moved = (part, supplier, stock + 500, cost - Decimal("0.75"), comment)
        offers.append(moved if number % 5 == 0 else row)
    suppliers = [
        (*row[:-1], COMPLAINTS) if row[0] in {3, 20} else row for row in tables["supplier"]
    ]
    customers = [
        (*row[:5], row[5] + 900, *row[6:]) if row[0] % 7 == 0 else row for row in tables["customer"]
    ]
    return {**tables, "partsupp": offers, "supplier": suppliers, "customer": customers}
