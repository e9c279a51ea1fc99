"""A law that is broken on purpose is found out by the very check that all views go through."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.errors import SparkRuntimeException
from sqlglot import exp

from headwater.define.lowering import attach, depend, grouping_sets, where
from headwater.plan import patch
from headwater.plan.deltas import keyed, narrowed, neighbours, pivot
from headwater.plan.strategies import by_key, extrema, firsts, over_all, top
from headwater.testing.oracle import Oracle, TableStates
from headwater.vocabulary.names import WEIGHT, quoted

R = "k int, g int, w string"
S = "k int, g int"
TABLES = {
    "r": TableStates(
        R,
        [(1, 1, "a"), (2, 1, "b"), (3, None, "a"), (4, 2, None), (9, 9, "a")],
        [(1, 1, "a"), (5, 1, "b"), (3, None, "b"), (4, 3, None)],
    ),
    "s": TableStates(S, [(1, 1), (2, 1), (3, 2)], [(1, 1), (3, 2), (3, 3), (4, None)]),
}


@pytest.fixture(scope="module")
def oracle(spark):
    return Oracle(spark)


def gains_only(planning, moved):
    """Forgets the keys of rows that went."""
    kept = [
        (planning.relation("gains", f"SELECT * FROM {quoted(r)} WHERE {WEIGHT} > 0"), keys)
        for r, keys in moved
    ]
    return keyed.touched_keys(planning, kept)


def without_marker(call, marker):
    """The COUNT bug: a row without partners counts as one."""
    return call


def plain_membership(dependent, needles):
    """NOT IN as if NULL were a value like any other."""
    pairs = zip(needles, dependent.values, strict=False)
    return [exp.EQ(this=needle, expression=attach.column(value)) for needle, value in pairs]


def keys_never_blank(key, number, position, sets):
    """A rollup that forgets to leave keys out."""
    return key.copy()


def forgets_leavers(keyed, source):
    """A table written whole that keeps the groups without rows."""
    return patch.keyed_content(replace(keyed, leaves="FALSE"), source)


def forgets_others(keyed, source):
    """A table written whole of which only the touched groups are left."""
    content, keys = patch.keyed_content(keyed, source), ", ".join(map(quoted, keyed.keys))
    return f"SELECT * FROM ({content}) LEFT SEMI JOIN {quoted(source)} USING ({keys})"


def forgets_copies(ids, netted):
    """Windows over all rows that see each of several equal ones once."""
    return f"SELECT {ids} FROM ({netted})"


_first = firsts._first


def sees_the_first_only(found, names, moved, mine):
    """First rows of which only the very first may be displaced."""
    return _first(replace(found, most=1), names, moved, mine)


def sees_itself_only(way, edge, side):
    """Neighbours that do not hear of a change."""
    return edge


_edges = neighbours._edges


def hears_but_does_not_see(names, reach, counted):
    """Neighbours of a change that are computed without neighbours of their own."""
    low, high = neighbours._LOW, neighbours._HIGH
    ends = f"{low}, {low} AS {neighbours._LOWEST}, {high}, {high} AS {neighbours._HIGHEST}"
    keys = ", ".join(quoted(name) for _, name in names)
    return f"SELECT {keys}, {ends} FROM ({_edges(names, reach, counted)})"


BROKEN = {
    "rows that see a change": (
        "SELECT k, lead(k) OVER (PARTITION BY g ORDER BY k) AS n FROM r",
        [(neighbours, "_beyond", sees_itself_only)],
    ),
    "rows that these see": (
        "SELECT k, lag(k) OVER (PARTITION BY g ORDER BY k) AS n FROM r",
        [(neighbours, "_edges", hears_but_does_not_see)],
    ),
    "over all": (
        "SELECT w, rank() OVER (ORDER BY w) AS place FROM r",
        [(over_all, "_copied", forgets_copies)],
    ),
    "first rows, never asked for": (
        "SELECT g, w FROM r QUALIFY row_number() OVER (PARTITION BY g ORDER BY k) = 1",
        [(firsts, "_ALONE", "TRUE")],
    ),
    "first rows, one of several": (
        "SELECT g, w FROM r QUALIFY row_number() OVER (PARTITION BY g ORDER BY k) <= 2",
        [(firsts, "_first", sees_the_first_only)],
    ),
    "rows after an offset, never asked for": (
        "SELECT k, g, w FROM r ORDER BY k = 5 DESC, k LIMIT 99 OFFSET 1",
        [(top, "_shifted", lambda top: "FALSE")],
    ),
    "extremum, never asked for": (
        "SELECT w, max(k) AS last FROM r GROUP BY w",
        [(extrema, "_lost", lambda part: "FALSE")],
    ),
    "renewed, leavers": (
        "SELECT g, min(k) AS least FROM r GROUP BY g",
        [(by_key, "keyed_content", forgets_leavers)],
    ),
    "renewed, others": (
        "SELECT g, count(*) AS n FROM s GROUP BY g",
        [(by_key, "keyed_content", forgets_others)],
    ),
    "pivot": (
        "SELECT * FROM r PIVOT (count(*) FOR w IN ('a' AS x, 'b' AS y))",
        [(pivot, "touched_keys", gains_only)],
    ),
    "narrowed join": (
        "SELECT r.k, x.n FROM r JOIN (SELECT g, count(*) n FROM s GROUP BY g) x ON r.g = x.g",
        [(narrowed, "touched_keys", gains_only)],
    ),
    "correlated count": (
        "SELECT k, (SELECT count(*) FROM s WHERE s.g = r.g) AS n FROM r",
        [(depend, "_partners_only", without_marker)],
    ),
    "not in": (
        "SELECT k FROM r WHERE k NOT IN (SELECT g FROM s)",
        [(where, "membership", plain_membership)],
    ),
    "not in or": (
        "SELECT k FROM r WHERE k NOT IN (SELECT g FROM s) OR w = 'zz'",
        [(attach, "membership", plain_membership)],
    ),
    "rollup": (
        "SELECT g, count(*) AS n FROM r GROUP BY ROLLUP (g)",
        [(grouping_sets, "_blanked", keys_never_blank)],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_it_is_found_out(oracle: Oracle, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Right as it is, wrong once broken."""
    sql, changes = BROKEN[name]
    assert oracle.check(sql, TABLES)[1] == []
    for module, attribute, broken in changes:
        monkeypatch.setattr(module, attribute, broken)
    from headwater.plan import compiled

    compiled._restored.cache_clear()
    oracle.forget()
    try:
        assert _is_found_out(oracle, sql), f"nobody noticed: {sql}"
    finally:
        compiled._restored.cache_clear()
        oracle.forget()


def _is_found_out(oracle: Oracle, sql: str) -> bool:
    """By other rows, or because the table lacks a row that is to be taken out."""
    try:
        return bool(oracle.check(sql, TABLES)[1])
    except SparkRuntimeException as error:
        return "HEADWATER_DRIFT" in str(error)
