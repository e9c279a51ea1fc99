"""NULLs without a type: no rows are looked up by them."""

from __future__ import annotations

import pytest

from headwater.plan.untyped import untyped_key
from headwater.vocabulary.algebra import Distinct, Filter, Item, Node, Pivot, Scan
from headwater.vocabulary.dialect import parsed

ROWS = Scan("s", 1, (("g", "g"), ("x", "x"), ("w", "w"), ("n", "n")))
TYPES = {"g": "int", "x": "void", "w": "string", "n": "bigint"}


def pivot(*groups: str) -> Node:
    total = Item("total", parsed("sum(n)"))
    return Pivot(ROWS, groups, ("w",), (parsed("'a'"),), (total,), ("a",))


@pytest.mark.parametrize("node", [pivot("g", "x"), Distinct(ROWS)])
def test_a_key_without_a_type_is_told(node: Node) -> None:
    """Groups of a PIVOT and rows of a DISTINCT are found by their values."""
    assert untyped_key(node, TYPES) == "x void"


@pytest.mark.parametrize("node", [pivot("g"), ROWS, Filter(ROWS, parsed("x IS NULL"))])
def test_a_column_that_is_no_key_may_have_none(node: Node) -> None:
    """Nothing is looked up by it."""
    assert untyped_key(node, TYPES) is None
