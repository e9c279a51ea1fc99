"""How many rows a changed row meets in joins, by what the log tells of rows and values."""

from __future__ import annotations

import pytest

from headwater.plan.fan_out import fan_outs
from headwater.plan.strategies.inputs import SourceWindow
from headwater.vocabulary.algebra import Item, Join, JoinKind, Node, Project, Scan
from headwater.vocabulary.dialect import parsed


def fan_out(source: str, root: Node, here: dict[str, SourceWindow]) -> float:
    return fan_outs(root, here)[source]


def scan(source: str, *columns: str, leaf: int = 0) -> Scan:
    return Scan(source, leaf, tuple((column, f"{source}{leaf}_{column}") for column in columns))


def join(left: Node, right: Node, on: str) -> Join:
    return Join(left, right, JoinKind.INNER, parsed(on))


def window(source: str, rows: int, **values: int) -> SourceWindow:
    return SourceWindow(source, 1, 2, changed=True, rows=10, total_rows=rows, values=values)


def windows(*found: SourceWindow) -> dict[str, SourceWindow]:
    return {each.source: each for each in found}


FACT, DIM = scan("fact", "id", "dim_id"), scan("dim", "id", leaf=1)
STAR = join(FACT, DIM, "fact0_dim_id = dim1_id")


def test_without_a_join_a_row_is_a_row():
    assert fan_out("fact", FACT, windows(window("fact", 1000))) == 1


def test_a_fact_has_one_partner_and_a_dimension_many():
    here = windows(window("fact", 1_000_000, dim_id=500), window("dim", 500, id=500))
    assert fan_out("fact", STAR, here) == 1
    assert fan_out("dim", STAR, here) == 2000


def test_a_key_of_few_values_explodes_though_both_sides_are_as_large():
    here = windows(window("fact", 1_000_000, dim_id=100), window("dim", 1_000_000, id=100))
    assert fan_out("fact", STAR, here) == 10_000
    assert fan_out("fact", STAR, windows(window("fact", 10**6), window("dim", 10**6))) == 1


def test_keys_with_gaps_are_as_many_as_the_rows_of_who_has_them_once():
    """Four lines to an order, and order numbers leave gaps."""
    here = windows(window("fact", 6_000, dim_id=6_000), window("dim", 1_500, id=6_000))
    assert fan_out("dim", STAR, here) == 4
    assert fan_out("fact", STAR, here) == 1


def test_without_statistics_the_sizes_tell():
    here = windows(window("fact", 6_000), window("dim", 1_500))
    assert fan_out("dim", STAR, here) == 4
    unkeyed = join(FACT, DIM, "fact0_dim_id < dim1_id")
    assert fan_out("dim", unkeyed, here) == 4


def test_several_keys_together_have_the_product_of_their_values():
    left, right = scan("fact", "a", "b"), scan("dim", "a", "b", leaf=1)
    both = join(left, right, "fact0_a = dim1_a AND fact0_b = dim1_b")
    here = windows(window("fact", 10_000, a=10, b=50), window("dim", 5_000, a=10, b=50))
    assert fan_out("dim", both, here) == 20


def test_the_way_with_fewest_partners_is_taken():
    """A line meets its order's customer by the order, not by the nation both have in common."""
    line = scan("line", "order_id", "nation")
    order = scan("orders", "id", "customer_id", leaf=1)
    customer = scan("customer", "id", "nation", leaf=2)
    root = join(
        join(line, order, "line0_order_id = orders1_id"),
        customer,
        "orders1_customer_id = customer2_id AND line0_nation = customer2_nation",
    )
    here = windows(
        window("line", 6_000, order_id=1_500, nation=25),
        window("orders", 1_500, id=1_500, customer_id=150),
        window("customer", 150, id=150, nation=25),
    )
    assert fan_out("line", root, here) == 1
    assert fan_out("customer", root, here) == 40


@pytest.mark.parametrize("named", ["dim1_id", "renamed"])
def test_a_renamed_column_is_still_that_column(named):
    right = Project(DIM, (Item("renamed", parsed("dim1_id")),)) if named == "renamed" else DIM
    here = windows(window("fact", 1_000, dim_id=10), window("dim", 10, id=10))
    assert fan_out("dim", join(FACT, right, f"fact0_dim_id = {named}"), here) == 100
