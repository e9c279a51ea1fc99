"""What happens in the shop between two refreshes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headwater.demo.data import Sizes, customers, drawn, order_lines, orders

Tables = Callable[[str], str]
"""A table's name as SQL may write it."""


@dataclass(frozen=True)
class Round:
    """Some statements, each one commit to one table."""

    title: str
    statements: Callable[[Sizes, Tables], tuple[str, ...]]
    changes_views: bool = True


def _busy_hour(sizes: Sizes, table: Tables) -> tuple[str, ...]:
    first = sizes.orders + 1
    last = sizes.orders + _share(sizes)
    return (
        f"INSERT INTO {table('orders')} {orders(first, last, sizes)}",
        f"INSERT INTO {table('order_lines')} {order_lines(first, last, sizes)}",
    )


def _warehouse_works(sizes: Sizes, table: Tables) -> tuple[str, ...]:
    recent = f"order_id > {sizes.orders - 4 * _share(sizes)}"
    more = f"{drawn('order_id, line_no', 8, 'more')} = 0"
    moves = f"{drawn('customer_id', sizes.customers // 10 or 1, 'moves')} = 0"
    return (
        f"UPDATE {table('orders')} SET status = 'shipped' WHERE status = 'open' AND {recent}",
        f"UPDATE {table('order_lines')} SET quantity = quantity + 1 WHERE {recent} AND {more}",
        f"UPDATE {table('customers')} SET country = 'PT' WHERE {moves}",
    )


def _second_thoughts(sizes: Sizes, table: Tables) -> tuple[str, ...]:
    recent = f"order_id > {sizes.orders - 2 * _share(sizes)}"
    given_up = f"{recent} AND {drawn('order_id', 5, 'given up')} = 0"
    first = sizes.customers + 1
    last = sizes.customers + _share(sizes) // 5 + 1
    return (
        f"DELETE FROM {table('order_lines')} WHERE {given_up}",
        f"DELETE FROM {table('orders')} WHERE {given_up}",
        f"INSERT INTO {table('customers')} {customers(first, last)}",
        f"UPDATE {table('products')} SET category = 'outlet' WHERE product_id = 3",
    )


def _nothing_that_matters(_sizes: Sizes, table: Tables) -> tuple[str, ...]:
    return (
        f"UPDATE {table('customers')} SET email = concat('new.', email) WHERE customer_id <= 50",
        f"OPTIMIZE {table('orders')}",
    )


def _share(sizes: Sizes) -> int:
    """The orders of a busy hour: one in five hundred of all."""
    return max(2, sizes.orders // 500)


ROUNDS = (
    Round("a busy hour: new orders come in", _busy_hour),
    Round("the warehouse works: orders ship, lines change, customers move", _warehouse_works),
    Round("second thoughts: orders are deleted, customers come, a product moves", _second_thoughts),
    Round(
        "nothing that matters: unused columns change, files are compacted",
        _nothing_that_matters,
        changes_views=False,
    ),
)
