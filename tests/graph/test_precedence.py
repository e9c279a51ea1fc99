"""Views that many others wait for one by one go first."""

from __future__ import annotations

from headwater.graph.precedence import followers

CHAIN = {"a": set(), "b": {"a"}, "c": {"b"}}


def test_the_first_of_a_chain_has_all_others_behind_it() -> None:
    assert followers(CHAIN) == {"a": 2, "b": 1, "c": 0}


def test_the_longer_way_counts() -> None:
    """`d` reads the first of the chain and its last: from the first it is the longer way."""
    assert followers({**CHAIN, "d": {"a", "c"}, "alone": set()}) == {
        "a": 3,
        "b": 2,
        "c": 1,
        "d": 0,
        "alone": 0,
    }


def test_nothing() -> None:
    assert followers({}) == {}
