"""The shop's tables, made by Spark from numbers alone: the same rows on every machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.capture.log import open_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIRST_DAY = "DATE'2025-01-01'"
DAYS = 365


@dataclass(frozen=True)
class Sizes:
    """How many rows each table starts with; a shop of any size has the same proportions."""

    order_lines: int

    @property
    def orders(self) -> int:
        return max(20, self.order_lines // 4)

    @property
    def customers(self) -> int:
        return max(10, self.orders // 5)

    @property
    def products(self) -> int:
        return max(10, self.orders // 50)

    def by_table(self) -> dict[str, int]:
        """The number of rows by table, in the order in which they are made."""
        return {
            "customers": self.customers,
            "products": self.products,
            "orders": self.orders,
            "order_lines": self.orders * 4,
        }


def drawn(what: str, below: str | int, salt: str) -> str:
    """A number from 0 to `below` - 1 that looks drawn by lot and depends on `what` alone."""
    return f"pmod(xxhash64({what}, '{salt}'), {below})"


def chosen(what: str, salt: str, *words: str) -> str:
    """One of some words."""
    quoted = ", ".join(f"'{word}'" for word in words)
    return f"element_at(array({quoted}), CAST({drawn(what, len(words), salt)} + 1 AS INT))"


def customers(first: int, last: int) -> str:
    """Customers with ids from `first` to `last`, as a query."""
    country = chosen("id", "country", "AT", "BR", "DE", "FR", "GH", "IN", "JP", "KE", "TR", "US")
    segment = chosen("id", "segment", "home", "home", "office", "school")
    return f"""
        SELECT id AS customer_id, concat('Customer ', id) AS name, {country} AS country,
               {segment} AS segment, concat('c', id, '@example.org') AS email
        FROM range({first}, {last + 1})"""


def products(first: int, last: int) -> str:
    """Products as a query; prices from 1.00 to 400.99."""
    category = chosen("id", "category", "books", "garden", "kitchen", "light", "paper", "tools")
    return f"""
        SELECT id AS product_id, concat('Product ', id) AS title, {category} AS category,
               CAST(1 + {drawn("id", 40_000, "price")} / 100 AS DECIMAL(10, 2)) AS price
        FROM range({first}, {last + 1})"""


def orders(first: int, last: int, sizes: Sizes) -> str:
    """Orders as a query: ids grow with the days, and only the last days' orders are still open."""
    day = f"CAST(id * {DAYS} / {sizes.orders} AS INT)"
    late = f"id > {int(sizes.orders * 0.97)}"
    return f"""
        SELECT id AS order_id, {drawn("id", sizes.customers, "customer")} + 1 AS customer_id,
               date_add({FIRST_DAY}, {day}) AS ordered_on,
               CASE WHEN {late} AND {drawn("id", 2, "open")} = 0 THEN 'open'
                    WHEN {drawn("id", 50, "status")} = 0 THEN 'canceled'
                    ELSE 'shipped' END AS status
        FROM range({first}, {last + 1})"""


def order_lines(first: int, last: int, sizes: Sizes) -> str:
    """One to seven lines for each order from `first` to `last`, four on average."""
    price = f"CAST(1 + {drawn('product_id', 40_000, 'price')} / 100 AS DECIMAL(10, 2))"
    return f"""
        SELECT order_id, line_no, product_id,
               CAST(1 + {drawn("order_id, line_no", 5, "quantity")} AS INT) AS quantity,
               {price} AS unit_price,
               {drawn("order_id, line_no", 30, "discount")} / 100.0D AS discount
        FROM (SELECT id AS order_id, line_no,
                     {drawn("id, line_no", sizes.products, "product")} + 1 AS product_id
              FROM range({first}, {last + 1})
              LATERAL VIEW explode(sequence(1, CAST({drawn("id", 7, "lines")} + 1 AS INT)))
                           lines AS line_no)"""


def make_tables(spark: SparkSession, folder: Path, sizes: Sizes) -> dict[str, int]:
    """Write all four tables; the number of rows of each."""
    queries: Mapping[str, tuple[str, str, int]] = {
        "customers": (customers(1, sizes.customers), "customer_id", 1),
        "products": (products(1, sizes.products), "product_id", 1),
        "orders": (orders(1, sizes.orders, sizes), "order_id", 4),
        "order_lines": (order_lines(1, sizes.orders, sizes), "order_id", 4),
    }
    return {
        name: _written(spark, query, folder / name, key, parts)
        for name, (query, key, parts) in queries.items()
    }


def _written(spark: SparkSession, query: str, path: Path, key: str, parts: int) -> int:
    """A Delta table with a change feed, its files split by the range of the key."""
    rows = spark.sql(query).repartitionByRange(parts, key).sortWithinPartitions(key)
    writer = rows.write.format("delta").option("delta.enableChangeDataFeed", "true")
    writer.save(str(path))
    return open_log(str(path)).statistics().rows or 0
