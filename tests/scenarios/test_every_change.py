"""Every kind of change over every kind of view: equal to recompute."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal

import pytest

from tests.scenarios.lake import INCREMENTAL, Lake

ORDERS = (
    "id INT, region STRING, customer INT, amount DECIMAL(10,2), qty INT, price DOUBLE, day DATE"
)
CUSTOMERS = "id INT, name STRING, tier STRING"

VIEWS = {
    "join_sums": """SELECT c.tier, sum(o.amount) AS total, count(*) AS n, avg(o.qty) AS mean
        FROM orders o JOIN customers c ON o.customer = c.id GROUP BY c.tier""",
    "per_region": """SELECT region, sum(qty) AS q, count(qty) AS n, min(day) AS first,
        max(amount) AS most, min(qty) AS least FROM orders GROUP BY region""",
    "float_sums": """SELECT region, sum(price) AS price, avg(price) AS mean
        FROM orders GROUP BY region""",
    "left_joined": """SELECT o.id, o.amount, c.name FROM orders o
        LEFT JOIN customers c ON o.customer = c.id""",
    "full_joined": """SELECT o.id, c.id AS customer, c.tier FROM orders o
        FULL JOIN customers c ON o.customer = c.id""",
    "pairs": "SELECT DISTINCT region, qty FROM orders",
    "neighbours": """SELECT a.id, b.id AS other FROM orders a
        JOIN orders b ON a.region = b.region AND a.id < b.id""",
    "big_spenders": """WITH spent AS
        (SELECT customer, sum(amount) AS s FROM orders GROUP BY customer)
        SELECT c.name, s.s FROM spent s JOIN customers c ON c.id = s.customer WHERE s.s > 10""",
    "tiers_by_n": "SELECT n, count(*) AS tiers FROM join_sums GROUP BY n",
    "diamond": """SELECT r.region, r.q, f.price FROM per_region r
        FULL JOIN float_sums f ON r.region <=> f.region""",
}


def order(id_, region, customer, amount, qty, price, day=1):
    money = None if amount is None else Decimal(amount)
    return (id_, region, customer, money, qty, price, date(2026, 1, day))


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    north = order(1, "north", 1, "10.00", 1, 0.5, 3)
    rows = [
        north,
        north,  # a true duplicate
        order(2, "north", 2, "20.00", 2, 1.25, 1),
        order(3, "south", 2, "5.50", None, None, 5),
        order(4, "south", 3, "7.25", 3, 2.75, 9),
        order(5, None, 1, "1.00", 4, 0.25, 2),
        order(6, "lonely", 9, "99.99", 7, 8.0, 7),
    ]
    shared_lake.source("orders", ORDERS, rows)
    people = [(1, "Ada", "gold"), (2, "Bob", "silver"), (3, "Cyd", "silver"), (4, "Dee", None)]
    shared_lake.source("customers", CUSTOMERS, people)
    for name, query in VIEWS.items():
        shared_lake.view(name, query)
    shared_lake.assert_right(verify=())
    return shared_lake


UPSERT = """MERGE INTO {orders} t USING (SELECT * FROM VALUES
      (7, 'east', 1, CAST(4.00 AS DECIMAL(10,2)), 5, 1.5D, DATE'2026-01-04'),
      (11, NULL, 2, CAST(8.00 AS DECIMAL(10,2)), 1, 0.125D, DATE'2026-01-08')
      AS s(id, region, customer, amount, qty, price, day)) s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"""


def inserts_and_upserts(lake: Lake) -> None:
    rows = [
        order(7, "east", 4, "3.00", 5, 1.5, 4),
        (8, None, 4, None, None, None, None),
        order(1, "north", 1, "10.00", 1, 0.5, 3),
    ]
    lake.change("orders", ddl=ORDERS, insert=rows)
    lake.change("customers", ddl=CUSTOMERS, insert=[(9, "Eve", "gold"), (10, None, "new")])
    lake.run(UPSERT)


def updates_and_key_changes(lake: Lake) -> None:
    more = {"amount": "CAST(amount + 1 AS DECIMAL(10,2))", "qty": "9"}
    lake.change("orders", update=more, where="id = 2")
    lake.change("orders", update={"qty": "NULL", "price": "NULL"}, where="region = 'south'")
    lake.change("orders", update={"id": "100", "region": "'west'"}, where="id = 4")
    lake.change("orders", update={"customer": "2"}, where="id = 7")
    lake.change("customers", update={"tier": "'gold'", "id": "12"}, where="id = 3")


def updates_of_nothing(lake: Lake) -> None:
    lake.run("UPDATE {orders} SET qty = qty, region = region WHERE id < 3")
    lake.change("customers", update={"name": "'x'"}, where="id = 1")
    lake.change("customers", update={"name": "'Ada'"}, where="id = 1")


def deletes(lake: Lake) -> None:
    lake.run("DELETE FROM {orders} WHERE region = 'lonely' OR region IS NULL")
    lake.change("orders", delete="day = DATE '2026-01-01'")
    lake.change("customers", delete="id IN (2, 10)")


def all_rows_go_and_one_comes_back(lake: Lake) -> None:
    lake.run("DELETE FROM {orders} WHERE id IS NOT NULL")
    lake.change("orders", ddl=ORDERS, insert=[(1, "north", 1, Decimal("10.00"), 1, 0.5, None)])


CHANGES: dict[str, Callable[[Lake], None]] = {
    change.__name__: change
    for change in (
        inserts_and_upserts,
        updates_and_key_changes,
        updates_of_nothing,
        deletes,
        all_rows_go_and_one_comes_back,
    )
}


@pytest.mark.parametrize("change", CHANGES)
def test_views_follow_every_change(lake: Lake, change: str) -> None:
    """S25: after each kind of change every view is incremental and equal to its recomputation."""
    number, views = list(CHANGES).index(change), tuple(VIEWS)
    before = {view: lake.version(view) for view in views}
    CHANGES[change](lake)
    receipts = lake.refresh()
    assert {v: r.technique for v, r in receipts.items() if r.technique not in INCREMENTAL} == {}
    lake.assert_right(verify=views[number :: len(CHANGES)])
    if change == "updates_of_nothing":
        assert {view: lake.version(view) for view in views} == before
