"""One query per construct of SQL, each against Spark under several changes."""

from __future__ import annotations

import datetime as dt
import os
from decimal import Decimal
from typing import Any

import pytest

from headwater.testing.oracle import Oracle, TableStates
from headwater.vocabulary.technique import Technique
from tests.laws.corpus import CORPUS, R, S, T

_INSTANT = dt.datetime(2024, 1, 1, 5, 30, tzinfo=dt.UTC)


def _r(k: int | None, g: int | None, word: str | None, *numbers: int) -> tuple[Any, ...]:
    half = None if k is None else Decimal(k) / 2
    day = dt.date(2023 + (g or 0) % 2, 1 + (k or 0) % 3, 3)
    struct = None if word is None else (k, word)
    map_ = [("a", 1), ("b", n)] if (n := g) else [("a", 2)]
    rest = (day, _INSTANT, list(numbers), struct, map_)
    return (k, g, half, None if g is None else g * 0.5, word, *rest)


_R = (
    [_r(1, 1, "a", 1), _r(1, 1, "a", 1), _r(2, 1, "b"), _r(3, None, None, 7), _r(4, 2, "a", 3, 4)],
    [_r(1, 1, "a", 1), _r(2, 2, "b", 1), _r(3, None, None), _r(5, 1, "a", 7), _r(None, None, "")],
)
_S = (
    [(1, 1, "a", 5, True), (2, 2, '{"a": 1}', 7, False), (2, 2, '{"a": 1}', 7, False)],
    [
        (1, 2, "a", 5, True),
        (2, 2, '{"a": 1}', 7, False),
        (4, 3, "a", 1, None),
        (3, None, "", 0, None),
    ],
)
_T = (
    [(1, 1, "x"), (2, 3, "y"), (3, None, "x")],
    [(1, 2, "x"), (2, 3, "y"), (5, 5, None)],
)


def table_states(moved: str) -> dict[str, TableStates]:
    """Only the named tables change; `e` empties the last two, `f` fills all from nothing."""
    found = {}
    for name, ddl, (before, after) in (("r", R, _R), ("s", S, _S), ("t", T, _T)):
        if moved == "filled":
            found[name] = TableStates(ddl, [], before)
        elif moved == "emptied":
            found[name] = TableStates(ddl, before, before if name == "r" else [])
        else:
            found[name] = TableStates(ddl, before, after if name in moved else before)
    return found


CHANGES = ("rst", "s", "emptied", "filled", "r", "t")
REBUILT = {
    "expression: clock",
    "expression: clock in select",
    "expression: fields of one name",
    "expression: interval column",
    "expression: map",
    "lateral: left join lateral function",
    "expression: json of a tuple",
    "aggregate: by session with a gap of its own",
    "aggregate: groups by a map",
    "expression: variant inside",
    "nested: clock below join",
    "shape: recursive cte",
}
"""Kept as text, on purpose or not yet otherwise; everything else has an incremental technique."""

_SHARE = 8
"""About so many constructs of each family are checked in a short run."""

ALL_ROWS = {"TOP_K", "WINDOW_UNPARTITIONED", "GLOBAL_AGGREGATE"}


@pytest.fixture(scope="module")
def oracle(spark):
    return Oracle(spark)


def check(oracle: Oracle, name: str, moved: str) -> None:
    tried, failed = oracle.check(CORPUS[name], table_states(moved))
    assert not failed, (name, CORPUS[name], failed)
    incremental = {t for t, word in tried.items() if word == "sound"} - {Technique.REBUILD}
    if tried and not incremental and name not in REBUILT:
        assert ALL_ROWS & set(tried.values()), (name, tried)


_REFUSED = {"window: qualify grouped"}  # by Spark itself; the coverage page tells so
_RUNNABLE = [n for n in CORPUS if "unknown function" not in n and n not in _REFUSED]


@pytest.mark.parametrize("family", sorted({name.split(":")[0] for name in _RUNNABLE}))
def test_every_construct_follows_a_mixed_change(oracle: Oracle, family: str) -> None:
    """Every construct gives Spark's own rows after inserts, updates and deletes in all tables.

    A share of each family, unless there is time (`make laws`), and each under one of the kinds of
    change; `test_every_construct_under_every_change` and `make soak` do all of them.
    """
    names = [name for name in _RUNNABLE if name.startswith(f"{family}:")]
    if "HEADWATER_TEST_WHOLE_CORPUS" not in os.environ:
        names = names[:: max(1, len(names) // _SHARE)]
    for number, name in enumerate(names):
        check(oracle, name, "rst" if number % 3 else CHANGES[number % len(CHANGES)])


@pytest.mark.slow
@pytest.mark.parametrize("moved", CHANGES)
def test_every_construct_under_every_change(oracle: Oracle, moved: str) -> None:
    """The whole list under each kind of change."""
    for name in _RUNNABLE:
        check(oracle, name, moved)
