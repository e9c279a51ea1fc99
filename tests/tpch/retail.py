"""A retailer with shops, a catalogue and a web site, in the manner of TPC-DS, of few rows."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from random import Random
from typing import Any

from headwater.testing.oracle import TableStates

Rows = list[tuple[Any, ...]]

_SALES = (
    "{0}_date_sk int, {0}_item_sk int, {0}_customer_sk int, {0}_store_sk int, {0}_{1} bigint, "
    "{0}_quantity int, {0}_sales_price decimal(7,2), {0}_profit decimal(7,2)"
)
_RETURNS = (
    "{0}_item_sk int, {0}_customer_sk int, {0}_store_sk int, {0}_{1} bigint, "
    "{0}_quantity int, {0}_amount decimal(7,2)"
)
DDL = {
    "date_dim": "d_date_sk int, d_date date, d_year int, d_month int",
    "item": "i_item_sk int, i_brand string, i_category string, i_price decimal(7,2)",
    "customer": "c_customer_sk int, c_state string",
    "store_sales": _SALES.format("ss", "ticket"),
    "catalog_sales": _SALES.format("cs", "order"),
    "web_sales": _SALES.format("ws", "order"),
    "store_returns": _RETURNS.format("sr", "ticket"),
    "web_returns": _RETURNS.format("wr", "order"),
}
_CATEGORIES = ("Books", "Music", "Shoes")


def retailer() -> dict[str, Rows]:
    """The same rows every time."""
    random = Random(22)
    days = [dt.date(year, month, 15) for year in (2022, 2023, 2024) for month in range(1, 13, 2)]
    tables: dict[str, Rows] = {
        "date_dim": [(n, day, day.year, day.month) for n, day in enumerate(days, 1)],
        "item": [
            (n, f"brand {n % 4}", _CATEGORIES[n % 3], Decimal(n * 7 % 11 + 1)) for n in range(1, 13)
        ],
        "customer": [(n, f"state {n % 3}") for n in range(1, 15)],
    }
    tables["store_sales"] = [_sale(random, n // 3, 14) for n in range(180)]
    tables["catalog_sales"] = [_sale(random, n, 8) for n in range(60)]
    tables["web_sales"] = [_sale(random, n // 2, 10) for n in range(90)]
    tables["store_returns"] = _returned(random, tables["store_sales"])
    tables["web_returns"] = _returned(random, tables["web_sales"])
    return tables


def _sale(random: Random, number: int, customers: int) -> tuple[Any, ...]:
    """The lines of one basket share its customer and its shop."""
    customer, store = number * 5 % customers + 1, number % 2 + 1
    price, profit = Decimal(random.randint(100, 9900)) / 100, Decimal(random.randint(-900, 2900))
    day, item = random.randint(1, 18), random.randint(1, 12)
    return (day, item, customer, store, number, random.randint(1, 9), price, profit / 100)


def _returned(random: Random, sales: Rows) -> Rows:
    found = {}
    for _, item, customer, store, number, quantity, price, _ in random.sample(sales, 25):
        found[item, number] = (item, customer, store, number, min(quantity, 2), price - 1)
    return list(found.values())


def batch(before: dict[str, Rows]) -> dict[str, TableStates]:
    """New sales, returns of old ones, sales struck out, a shop's mistake mended, an item moved."""
    random = Random(23)
    after = {name: list(rows) for name, rows in before.items()}
    for number, name in enumerate(("store_sales", "catalog_sales", "web_sales")):
        rows = [row for place, row in enumerate(before[name]) if place % 17 != number]
        rows += [_sale(random, 200 + n // 2, 14) for n in range(8)]
        rows[5] = (*rows[5][:5], 7, *rows[5][6:])
        after[name] = rows
    for name, sales in (("store_returns", "store_sales"), ("web_returns", "web_sales")):
        known = {(row[0], row[3]) for row in before[name]}
        new = [row for row in _returned(random, after[sales]) if (row[0], row[3]) not in known]
        after[name] = before[name][3:] + new[:5]
    item, brand, _, price = before["item"][4]
    after["item"][4] = (item, brand, "Books", price + 5)
    after["customer"] = before["customer"][:-1]
    return {name: TableStates(ddl, before[name], after[name]) for name, ddl in DDL.items()}
