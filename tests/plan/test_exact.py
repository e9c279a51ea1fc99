"""Which values need care, and what tells them apart."""

from __future__ import annotations

import pytest

from headwater.plan.consolidate import consolidated
from headwater.plan.exact import alike, delicate, exact_keys, same


@pytest.mark.parametrize(
    ("type_", "is_delicate"),
    [
        ("double", True),
        ("float", True),
        ("map<string,int>", True),
        ("array<struct<a:int,b:double>>", True),
        ("struct<m:map<int,int>>", True),
        ("string collate UTF8_LCASE", True),
        ("decimal(10,2)", False),
        ("struct<floating:int,doubled:string>", False),
        ("string", False),
    ],
)
def test_types_that_need_care(type_: str, *, is_delicate: bool) -> None:
    """By the type, not by what a field is called."""
    assert bool(delicate([("c", type_)])) is is_delicate


def test_plain_columns_are_compared_as_they_are() -> None:
    """Nothing is computed for them."""
    assert exact_keys(["a", "b"], {}) == ["`a`", "`b`"]
    assert same(["a"]) == "t.`a` <=> s.`a`"


def test_a_zero_keeps_its_sign() -> None:
    """Only zeros are written out; rows are found by the number itself."""
    fragile = {"x": "double"}
    number, sign = exact_keys(["x"], fragile)
    assert number == "`x`"
    assert sign.startswith("CASE WHEN `x` = 0 THEN")
    assert alike(["x"], fragile) == "t.`x` <=> s.`x`"
    assert same(["x"], fragile).count("<=>") == 2


def test_maps_are_compared_by_their_texts() -> None:
    """Spark has no equality for them."""
    fragile = {"m": "map<string,int>"}
    assert "t.`m` <=> s.`m`" not in alike(["m"], fragile)
    assert alike(["m"], fragile) == same(["m"], fragile)


def test_a_delicate_value_is_given_back_as_it_came() -> None:
    """A group's key would be another one."""
    sql = consolidated(("k", "x"), "r", {"x": "double"})
    assert sql.startswith("SELECT `k`, first(`x`) AS `x`, SUM(")
