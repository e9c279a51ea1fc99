"""Queries to operators: what is understood, what is kept as text, and which names are wrong."""

from __future__ import annotations

import pytest

from headwater.define.lowering.lower import lower
from headwater.vocabulary.algebra import Opaque, scans, walk

CATALOG = {
    "orders": ("id", "cust", "amount", "ts"),
    "cust": ("id", "name", "region"),
}


def opaque_reasons(sql: str) -> list[str]:
    return [reason.code for reason in lower(sql, CATALOG).reasons]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT region, sum(amount) AS t FROM orders o JOIN cust c ON cust = c.id GROUP BY region",
        "SELECT * FROM orders FULL JOIN cust USING (id)",
        "WITH a AS (SELECT cust, max(id) m FROM orders GROUP BY 1) SELECT m + 1 z, z * 2 y FROM a",
        "SELECT id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM cust c WHERE c.id = o.cust)",
        "SELECT cust, count(*) FROM orders GROUP BY ALL HAVING count(*) > 1",
        "SELECT id FROM orders UNION SELECT id FROM cust EXCEPT ALL SELECT cust FROM orders",
        "SELECT cust, sum(sum(amount)) OVER (ORDER BY cust) FROM orders GROUP BY cust",
        "SELECT o.id, x FROM orders o LATERAL VIEW explode(array(id, cust)) e AS x",
        "SELECT datediff(DAY, ts, ts) FROM orders",
        "SELECT transform(array(id), x -> x + cust) FROM orders",
    ],
)
def test_is_understood_whole(sql: str):
    """No part of these needs to be recomputed as text."""
    lowered = lower(sql, CATALOG)
    assert lowered.reasons == ()
    assert lowered.problems == ()


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT id, rand() AS r FROM orders", "NONDETERMINISTIC"),
        ("SELECT id, current_date() AS d FROM orders", "CLOCK_DEPENDENT"),
        ("SELECT id, my_function(id) AS d FROM orders", "UNKNOWN_FUNCTION"),
        ("SELECT cust, sum(amount) AS s FROM orders GROUP BY ROLLUP(cust)", "GROUPING_SETS"),
        ("SELECT id FROM orders WHERE cust NOT IN (SELECT id FROM cust)", "NOT_IN"),
        ("SELECT id, (SELECT max(id) FROM cust) AS m FROM orders", "SUBQUERY"),
    ],
)
def test_keeps_what_it_does_not_understand(sql: str, code: str):
    """S26: the reason has a stable code, and the sources are still known."""
    assert opaque_reasons(sql) == [code]
    assert {scan.source for scan in scans(lower(sql, CATALOG).query.root)} <= set(CATALOG)


def test_an_unusual_corner_costs_only_its_own_sub_tree():
    """The join around a sub-query that is kept as text is still a join."""
    sql = (
        "SELECT o.id, r.n FROM orders o JOIN "
        "(SELECT cust AS c, count(*) AS n FROM orders GROUP BY ROLLUP(cust)) r ON o.cust = r.c"
    )
    nodes = list(walk(lower(sql, CATALOG).query.root))
    assert sum(isinstance(node, Opaque) for node in nodes) == 1
    assert not isinstance(nodes[0], Opaque)


@pytest.mark.parametrize(
    ("sql", "line", "column", "code"),
    [
        ("SELECT nope FROM orders", 1, 8, "UNKNOWN_COLUMN"),
        ("SELECT id\nFROM orders\nWHERE o.id = 1", 3, 9, "UNKNOWN_COLUMN"),
        ("SELECT id FROM elsewhere", 1, 16, "UNKNOWN_TABLE"),
    ],
)
def test_wrong_names_have_a_place(sql: str, line: int, column: int, code: str):
    """S57: a name that nothing defines is told with line and column."""
    (problem,) = lower(sql, CATALOG).problems
    assert (problem.code, problem.line, problem.column) == (code, line, column)


def test_unused_columns_are_not_read():
    """A change of a column that the view does not use is no change to it."""
    (scan,) = scans(lower("SELECT id FROM orders WHERE amount > 1", CATALOG).query.root)
    assert [name for name, _ in scan.fields] == ["id", "amount"]


def test_the_same_table_twice_is_two_leaves():
    """A self-join sees the change of its table on both sides."""
    leaves = scans(lower("SELECT a.id FROM orders a JOIN orders b USING (id)", CATALOG).query.root)
    assert [scan.leaf for scan in leaves] == [1, 2]
    assert not {id_ for _, id_ in leaves[0].fields} & {id_ for _, id_ in leaves[1].fields}
