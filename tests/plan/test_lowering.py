"""Queries to operators: what is understood, what is kept as text, and which names are wrong."""

from __future__ import annotations

import pytest

from headwater.define.lowering.free import expressions_of
from headwater.define.lowering.lower import lower
from headwater.define.table_names import tables_needed
from headwater.plan.compiled import Compilation, lowered_or_text
from headwater.vocabulary.algebra import Aggregate, Opaque, TopK, scans, walk
from headwater.vocabulary.dialect import parsed, written

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
        "SELECT id, (SELECT max(id) FROM cust) AS m FROM orders",
        "SELECT id, (SELECT count(*) FROM cust c WHERE c.id < o.cust) AS m FROM orders o",
        "SELECT id FROM orders WHERE cust NOT IN (SELECT id FROM cust) OR id = 1",
        "SELECT cust, sum(amount) AS s, grouping_id() FROM orders GROUP BY CUBE (cust, ts)",
        "SELECT id FROM orders QUALIFY row_number() OVER (PARTITION BY cust ORDER BY ts) = 1",
        "SELECT id, sum(amount) OVER w FROM orders WINDOW w AS (PARTITION BY cust)",
        "SELECT id, explode(array(id, cust)) AS x FROM orders",
        "SELECT o.id, n FROM orders o, LATERAL (SELECT count(*) n FROM cust c WHERE c.id = o.id)",
        "SELECT * FROM orders PIVOT (sum(id) FOR ts IN (1 AS a, 2 AS b))",
        "SELECT id FROM orders UNION ALL SELECT id FROM cust ORDER BY id LIMIT 3",
        "SELECT 1 AS id UNION ALL SELECT id FROM orders",
        "SELECT cust, id AS n FROM orders ORDER BY CASE WHEN n = 0 THEN cust END, n LIMIT 3",
        "SELECT id, current_date AS d, now() AS t FROM orders WHERE ts > curdate() - 7",
        "SELECT o.* FROM orders o, (SELECT current_date() AS d) t WHERE ts > d",
        "SELECT name FROM orders, cust c JOIN orders p USING (id)",
        "SELECT name FROM orders, cust c NATURAL JOIN orders p",
    ],
)
def test_is_understood_whole(sql: str):
    """No part of these needs to be recomputed as text."""
    lowered = lower(sql, CATALOG)
    assert lowered.reasons == ()
    assert lowered.problems == ()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT cust, sum(id) > 1 AND count(*) > 2 AS b FROM orders GROUP BY cust",
        "SELECT cust FROM orders GROUP BY cust HAVING sum(id) > 1 OR NOT count(*) > 2",
        "SELECT max(ts) RLIKE 'a' AS m, max(ts) COLLATE utf8_lcase AS n, count(*) FROM orders",
    ],
)
def test_an_operator_between_aggregates_is_none(sql: str):
    (grouped,) = [n for n in walk(lower(sql, CATALOG).query.root) if isinstance(n, Aggregate)]
    calls = [written(item.expression).partition("(")[2] for item in grouped.aggregates]
    assert len(calls) == 2
    assert all(call.endswith(")") and call.count("(") == 0 for call in calls)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT id, rand() AS r FROM orders", "NONDETERMINISTIC"),
        ("SELECT id, current_time(3) AS d FROM orders", "CLOCK_DEPENDENT"),
        ("SELECT id FROM orders WHERE ts < TIMESTAMP 'now'", "CLOCK_DEPENDENT"),
        ("SELECT id FROM orders WHERE ts < to_date('yesterday')", "CLOCK_DEPENDENT"),
        ("SELECT id, my_function(id) AS d FROM orders", "UNKNOWN_FUNCTION"),
        ("SELECT count(DISTINCT *) AS h FROM orders", "STAR"),
        ("SELECT hash(*) AS h, uuid() AS u FROM orders", "NONDETERMINISTIC"),
        ("SELECT id FROM orders TABLESAMPLE (5 PERCENT)", "NONDETERMINISTIC"),
        ("SELECT arrays_zip(array(id), array(cust)) AS z FROM orders", "NAMES_UNCLEAR"),
        (
            "SELECT count(*) AS n FROM orders GROUP BY session_window(ts, '1 hour').start",
            "SESSION_WINDOW",
        ),
        (
            "SELECT max(session_window(ts, '1 hour').end) AS m FROM orders GROUP BY ts",
            "SESSION_WINDOW",
        ),
        ("SELECT session_window(ts, '1 hour') AS w FROM orders GROUP BY ts", "SESSION_WINDOW"),
        (
            "SELECT count(*) AS n FROM orders GROUP BY session_window(ts, '1 day')",
            "SESSION_WINDOW",
        ),
        (
            "SELECT id, DATE_ADD(DATE 'today', id) + my_function(id) AS d FROM orders",
            "CLOCK_DEPENDENT",
        ),
        (
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n, cust",
            "RECURSIVE",
        ),
        (
            "SELECT id, (SELECT max(concat(c.name, o.cust)) FROM cust c) AS m FROM orders o",
            "CORRELATED",
        ),
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
        "(SELECT cust AS c, my_function(id) AS n FROM orders) r ON o.cust = r.c"
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


def test_a_limit_around_a_query_is_kept():
    """`(SELECT ...) LIMIT 2` is not the same as the query in the parentheses."""
    nodes = walk(lower("(SELECT id FROM orders) ORDER BY id LIMIT 2", CATALOG).query.root)
    assert sum(isinstance(node, TopK) for node in nodes) == 1


@pytest.mark.parametrize(
    ("sql", "kept"),
    [
        (
            (
                "WITH cust AS (SELECT id FROM cust) "
                "SELECT -id AS id FROM cust GROUP BY -id HAVING -id < 0"
            ),
            (
                "WITH cust AS (SELECT id FROM __hw_leaf_2 AS `cust`) "
                "SELECT -id AS id FROM cust GROUP BY -id HAVING -id < 0"
            ),
        ),
        (
            (
                "WITH c AS (SELECT id + 1 AS id FROM cust), "
                "x AS (WITH c AS (SELECT id + 1 AS id FROM c) "
                "SELECT -id AS id FROM c GROUP BY -id HAVING -id < 0) SELECT * FROM x"
            ),
            (
                "WITH `c_2` AS (SELECT id + 1 AS id FROM __hw_leaf_2 AS `cust`), "
                "c AS (SELECT id + 1 AS id FROM c_2 AS `c`) "
                "SELECT -id AS id FROM c GROUP BY -id HAVING -id < 0"
            ),
        ),
    ],
)
def test_a_name_means_in_a_text_what_it_means_in_the_query(sql, kept):
    """A CTE hides the source that it reads, and the CTE of its name further out."""
    (text,) = (n for n in walk(lower(sql, CATALOG).query.root) if isinstance(n, Opaque))
    assert written(text.query) == kept
    assert [scan.source for scan in text.scans] == ["cust"]


@pytest.mark.parametrize(
    ("ending", "expected"),
    [("LIMIT 2 OFFSET 0", (1, None)), ("LIMIT 2 OFFSET 1", (1, "1")), ("OFFSET 0", (0, None))],
)
def test_an_offset_of_nothing_is_none(ending, expected):
    """First rows of which none are skipped can be followed by their own law."""
    nodes = walk(lower(f"SELECT id FROM orders ORDER BY id {ending}", CATALOG).query.root)
    tops = [node for node in nodes if isinstance(node, TopK)]
    skipped = [top.offset.name for top in tops if top.offset is not None]
    assert (len(tops), *(skipped or [None])) == expected


def test_the_same_sub_query_twice_is_read_once():
    """Two mentions of one scalar sub-query are one column."""
    sql = "SELECT id - (SELECT max(id) FROM cust) a, id + (SELECT max(id) FROM cust) b FROM orders"
    leaves = scans(lower(sql, CATALOG).query.root)
    assert [scan.source for scan in leaves] == ["orders", "cust"]


_USING = {"l": ("k", "b", "c"), "r": ("a", "k", "c"), "u": ("z", "a", "k")}


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("SELECT r.* FROM l JOIN r USING (k)", "k a c"),
        ("SELECT l.* FROM l RIGHT JOIN r USING (k)", "k b c"),
        ("SELECT l.*, r.* FROM l FULL JOIN r USING (k)", "k b c k a c"),
        ("SELECT r.*, l.* FROM l LEFT JOIN r USING (k, c)", "k c a k c b"),
        ("SELECT r.* FROM l JOIN r USING (c, k)", "c k a"),
        ("SELECT u.* FROM l JOIN r USING (k) JOIN u USING (k, a)", "k a z"),
        ("SELECT r.* FROM l JOIN r USING (k) JOIN u USING (a)", "k a c"),
        ("SELECT r.* FROM l NATURAL JOIN r", "k c a"),
        ("SELECT l.* FROM l LEFT SEMI JOIN r USING (k)", "k b c"),
        ("SELECT l.* FROM l JOIN r USING (k) RIGHT JOIN u USING (k)", "k b c"),
        ("SELECT r.* FROM l RIGHT JOIN r USING (k) RIGHT JOIN u USING (k)", "k a c"),
    ],
)
def test_a_star_of_one_side_shows_the_lost_columns_first(sql, shown):
    """As Spark does; the expected names are its own."""
    assert lower(sql, _USING).query.names == tuple(shown.split())


def test_a_name_inside_an_own_aggregate_is_a_column():
    """In HAVING, too, where an alias of the same name may stand beside it."""
    sql = "SELECT cust, max(id) AS id FROM orders GROUP BY cust HAVING mine(id) > 1 AND id > 2"
    lowered = lower(sql, CATALOG, {"mine": "aggregate"})
    assert not lowered.reasons
    calls = [e for node in walk(lowered.query.root) for e in expressions_of(node)]
    assert sum("mine" in written(e) for e in calls) == 1
    assert any(written(e) == "mine(`id_1`)" for e in calls), [written(e) for e in calls]


def test_what_cannot_be_repeated_outweighs_a_cte_that_nothing_reads():
    """The text that is kept has tables of the unread CTE; that is no reason of its own."""
    sources = {"orders": (("id", "int"),), "cust": (("id", "int"),)}
    sql = "WITH unread AS (SELECT * FROM cust) SELECT id, current_time(3) AS at FROM orders"
    lowered = lowered_or_text(sql, Compilation(sources, (), {}, None))
    assert [reason.code for reason in lowered.reasons] == ["CLOCK_DEPENDENT"]


@pytest.mark.parametrize(
    ("sql", "needed"),
    [
        ("WITH a AS (SELECT * FROM orders), b AS (SELECT * FROM cust) SELECT * FROM a", "orders"),
        ("WITH orders AS (SELECT * FROM orders) SELECT * FROM orders", "orders"),
        ("WITH c AS (SELECT * FROM cust) SELECT * FROM (WITH c AS (SELECT 1) SELECT * FROM c)", ""),
        (
            "WITH c AS (SELECT * FROM cust) SELECT id FROM orders WHERE id IN (SELECT id FROM c)",
            "b",
        ),
        ("WITH RECURSIVE c AS (SELECT 1 UNION ALL SELECT * FROM c) SELECT * FROM c, cust", "cust"),
    ],
)
def test_what_only_unread_ctes_read_is_not_needed(sql, needed):
    """Names mean what they mean where they stand."""
    wanted = {"b": {"orders", "cust"}, "": set()}.get(needed, {needed})
    assert {table.name for table in tables_needed(parsed(sql))} == wanted
