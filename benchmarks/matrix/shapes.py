"""The kinds of views that are measured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.matrix.tables import SALES, Table
from benchmarks.matrix.warehouse_tables import WAREHOUSE
from benchmarks.matrix.warehouse_views import WAREHOUSE_VIEWS


@dataclass(frozen=True)
class Shape:
    """Views in an order in which each reads only tables and earlier ones; the last is wanted."""

    name: str
    title: str
    views: Mapping[str, str]
    tables: tuple[Table, ...] = SALES
    appendable: bool = False  # where the source is only appended to, so is the view
    named: str = ""  # the change that a target names for it: there another engine runs beside it

    @property
    def is_graph(self) -> bool:
        return len(self.views) > 1

    @property
    def is_costly(self) -> bool:
        return len(self.views) > 9

    def reads(self) -> dict[str, set[str]]:
        """View -> the shape's other views that its query names."""
        words = {name: set(re.findall(r"\w+", query)) for name, query in self.views.items()}
        return {name: (words[name] & self.views.keys()) - {name} for name in self.views}


def _single(
    name: str, title: str, query: str, *, appendable: bool = False, named: str = ""
) -> Shape:
    return Shape(name, title, {name: query}, appendable=appendable, named=named)


SHAPES = (
    _single(
        "filter",
        "filter",
        "SELECT id, customer_id, product_id, day, amount FROM sales WHERE quantity > 5",
        appendable=True,
        named="append10",
    ),
    _single(
        "group_by",
        "group-by",
        "SELECT product_id, sum(amount) AS total, sum(quantity) AS pieces, count(*) AS n "
        "FROM sales GROUP BY product_id",
        named="0.1c",
    ),
    _single(
        "star",
        "star join + aggregate",
        "SELECT c.region, p.category, s.day, sum(s.amount) AS total, count(*) AS n "
        "FROM sales s JOIN customer c ON s.customer_id = c.id "
        "JOIN product p ON s.product_id = p.id JOIN store o ON s.store_id = o.id "
        "WHERE o.country <> 'country 1' GROUP BY c.region, p.category, s.day",
        named="0.1c",
    ),
    _single(
        "left_join",
        "left join",
        "SELECT s.id, s.day, s.amount, p.name, p.category "
        "FROM sales s LEFT JOIN product p ON s.product_id = p.id",
        appendable=True,
    ),
    _single("distinct", "distinct", "SELECT DISTINCT store_id, day FROM sales"),
    _single(
        "window",
        "window",
        "SELECT id, customer_id, day, amount, "
        "sum(amount) OVER (PARTITION BY customer_id ORDER BY id) AS so_far, "
        "row_number() OVER (PARTITION BY customer_id ORDER BY id) AS nth FROM sales",
    ),
    _single(
        "top_k",
        "top-k",
        "SELECT id, customer_id, amount FROM sales ORDER BY amount DESC, id LIMIT 100",
    ),
    Shape(
        "chain",
        "chain of 4 views",
        {
            "kept_sales": "SELECT s.id, s.customer_id, s.day, s.amount, p.category "
            "FROM sales s JOIN product p ON s.product_id = p.id WHERE s.status <> 'returned'",
            "by_customer": "SELECT customer_id, category, sum(amount) AS total, count(*) AS n "
            "FROM kept_sales GROUP BY customer_id, category",
            "by_region": "SELECT c.region, b.category, sum(b.total) AS total, count(*) AS buyers "
            "FROM by_customer b JOIN customer c ON b.customer_id = c.id "
            "GROUP BY c.region, b.category",
            "places": "SELECT region, category, total, rank() OVER "
            "(PARTITION BY region ORDER BY total DESC, category) AS place FROM by_region",
        },
    ),
    Shape("warehouse", "warehouse of 49 views", WAREHOUSE_VIEWS, WAREHOUSE, named="1c"),
)
