"""Which queries may have columns that are computed once, and how their change is planned."""

from __future__ import annotations

import pytest

from headwater.define.once import OnceError, lower_once
from headwater.plan.moved import is_moved

CATALOG = {"t": ("k", "a", "b"), "s": ("k", "c")}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, a, rand() AS x FROM t",
        "SELECT k, x + 1 AS x FROM (SELECT k, uuid() || b AS x FROM t) WHERE k > 3",
        "SELECT k, my_model(b) AS x FROM t WHERE a > 1 UNION ALL SELECT k, my_model(c) FROM s",
        "WITH c AS (SELECT k, now() AS x FROM t) SELECT k, x FROM c",
        "SELECT k, b AS x FROM t",
    ],
)
def test_a_query_that_works_row_by_row(sql: str) -> None:
    """The rest of the query reads nothing of what is computed once."""
    lowered = lower_once(sql, CATALOG, ("X",))
    assert lowered.reasons == ()
    assert lowered.asked.clocks == ()


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT k, count(*) AS x FROM t GROUP BY k", "ONCE_SHAPE"),
        ("SELECT t.k, rand() AS x FROM t JOIN s ON t.k = s.k", "ONCE_SHAPE"),
        ("SELECT DISTINCT k, rand() AS x FROM t", "ONCE_SHAPE"),
        ("SELECT k, rand() AS x FROM t ORDER BY k LIMIT 3", "ONCE_SHAPE"),
        ("SELECT k, rand() AS x FROM t TABLESAMPLE (5 PERCENT)", "ONCE_SHAPE"),
        ("SELECT k, rand() AS x FROM t WHERE rand() < 0.5", "NONDETERMINISTIC"),
        ("SELECT k, x FROM (SELECT k, rand() AS x FROM t) WHERE x < 0.5", "NONDETERMINISTIC"),
        ("SELECT k, uuid() AS y, rand() AS x FROM t", "NONDETERMINISTIC"),
        ("SELECT k, y, y AS x FROM (SELECT k, rand() AS y FROM t)", "NONDETERMINISTIC"),
        ("SELECT k, rand() AS x, x * 2 AS y FROM t", "NONDETERMINISTIC"),
    ],
)
def test_a_query_that_hangs_on_what_is_computed_once(sql: str, code: str) -> None:
    """The sub-tree or the call is named."""
    with pytest.raises(OnceError) as refused:
        lower_once(sql, CATALOG, ("x",))
    assert refused.value.code == code


def test_a_function_that_may_be_followed_is_a_function() -> None:
    """Only what is not known to be decided by its input must end in such a column."""
    sql = "SELECT k, known(a) AS y, other(b) AS x FROM t"
    assert lower_once(sql, CATALOG, ("x",), {"known": "scalar"}).reasons == ()
    with pytest.raises(OnceError, match="known"):
        lower_once(sql, CATALOG, ("x",))


def test_two_columns_of_one_call_are_not_computed_twice() -> None:
    """`x` and `y` would differ if each had a call of its own."""
    with pytest.raises(OnceError, match="read by another"):
        lower_once("SELECT k, rand() AS x, x * 2 AS y FROM t", CATALOG, ("x", "y"))


def test_time_moves_only_what_is_not_computed_once() -> None:
    """A time of arrival stays; a filter by the same clock is followed."""
    arrival = lower_once("SELECT k, now() AS x FROM t", CATALOG, ("x",))
    assert not is_moved(arrival.query.root, frozenset({"current_timestamp()"}))
    both = lower_once("SELECT k, now() AS x FROM t WHERE a < now()", CATALOG, ("x",))
    assert both.asked.clocks == ("current_timestamp",)
    assert is_moved(both.query.root, frozenset({"current_timestamp()"}))
