"""The made-up tables that views are kept over: every column is a formula of the row's number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS_PER_FILE = 500_000
LEAST_FILES = 8
PRODUCTS = 10_000
STORES = 200
DAYS = 730


@dataclass(frozen=True)
class Table:
    """`columns` are SQL over `id`, which grows with time; `updated` is what an update sets.

    Where a share of the facts changes, `pace` times that share of this table does.
    """

    name: str
    columns: Mapping[str, str]
    size: Callable[[int], int] = lambda rows: rows
    updated: Mapping[str, str] = field(default_factory=dict)
    pace: float = 1.0

    @property
    def changes(self) -> bool:
        return bool(self.updated)

    def made(self, spark: SparkSession, rows: int, start: int, stop: int, files: int) -> DataFrame:
        """The rows numbered `start` to `stop`, of a table made for `rows` facts."""
        given = {"rows": rows, "customers": customers(rows)}
        written = [f"{sql.format(**given)} AS {name}" for name, sql in self.columns.items()]
        return spark.range(start, stop, 1, files).selectExpr(*written)


def customers(rows: int) -> int:
    return max(rows // 20, 100)


def chance(salt: int, below: str | int) -> str:
    return f"pmod(xxhash64(id, {salt}), {below})"


def chosen(salt: int, *words: str) -> str:
    listed = ", ".join(f"'{word}'" for word in words)
    return f"element_at(array({listed}), CAST({chance(salt, len(words))} AS INT) + 1)"


def money(salt: int, most: int) -> str:
    return f"CAST({chance(salt, 100 * most)} / 100 AS DECIMAL(12,2))"


_DAY = f"date_add(DATE'2024-01-01', CAST(id * {DAYS} DIV {{rows}} AS INT))"

SALES = (
    Table(
        "sales",
        {
            "id": "id",
            "customer_id": chance(1, "{customers}"),
            "product_id": chance(2, PRODUCTS),
            "store_id": chance(3, STORES),
            "day": _DAY,
            "quantity": f"CAST(1 + {chance(4, 10)} AS INT)",
            "amount": money(5, 1000),
            "status": chosen(6, "open", "paid", "sent", "returned"),
            "note": "concat('sale number ', id)",
        },
        updated={"quantity": "quantity % 10 + 1", "amount": "amount + 1", "status": "'sent'"},
    ),
    Table(
        "customer",
        {
            "id": "id",
            "name": "concat('customer ', id)",
            "segment": chosen(11, "home", "office", "school", "shop", "state"),
            "region": chosen(12, "north", "south", "east", "west", "centre", "abroad"),
        },
        customers,
    ),
    Table(
        "product",
        {
            "id": "id",
            "name": "concat('product ', id)",
            "category": f"concat('category ', {chance(21, 40)})",
            "price": money(22, 900),
        },
        lambda _rows: PRODUCTS * 9 // 10,  # a tenth of the products sold is not listed
    ),
    Table(
        "store",
        {"id": "id", "country": f"concat('country ', {chance(31, 12)})"},
        lambda _rows: STORES,
    ),
)


@dataclass(frozen=True)
class Lake:
    """Tables of one size in one folder."""

    folder: Path
    tables: tuple[Table, ...]
    rows: int

    def path(self, table: str) -> str:
        return str(self.folder / table)

    def make(self, spark: SparkSession) -> None:
        for table in self.tables:
            count = table.size(self.rows)
            files = max(LEAST_FILES, count // ROWS_PER_FILE) if table.changes else 1
            table.made(spark, self.rows, 0, count, files).write.format("delta").option(
                "delta.enableChangeDataFeed", "true"
            ).option("delta.enableDeletionVectors", "false").save(self.path(table.name))

    def register(self, spark: SparkSession) -> None:
        """As temporary views that show the newest version, whatever it is."""
        for table in self.tables:
            place = f"delta.`{self.path(table.name)}`"
            spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {table.name} AS SELECT * FROM {place}")
