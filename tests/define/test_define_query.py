"""What a query's text gives away."""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot import exp

from headwater.define.check_queries import clock_reads, nondeterminism
from headwater.define.parse import parse
from headwater.define.query import examine
from headwater.define.query_tree import QuerySyntaxError, parse_query
from headwater.vocabulary.location import Location

HERE = Location("f.sql", 1, 1)


def view(query: str, clauses: str = "") -> Any:
    (made,) = parse(f"CREATE MATERIALIZED VIEW v {clauses} AS {query}").statements
    return made.definition  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("query", "tables"),
    [
        ("SELECT 1", ()),
        ("VALUES (1, 2)", ()),
        ("SELECT * FROM b JOIN a ON true, c", ("b", "a", "c")),
        ("SELECT * FROM `Or ders`", ("Or ders",)),
        ("SELECT * FROM A JOIN a", ("A",)),
        ("FROM t SELECT a", ("t",)),
        ("FROM t |> WHERE a > 1 |> SELECT b", ("t",)),
        ("(SELECT * FROM t) UNION ALL SELECT * FROM u EXCEPT SELECT * FROM v", ("t", "u", "v")),
        ("SELECT (SELECT max(a) FROM u) FROM t WHERE a IN (SELECT b FROM v)", ("u", "t", "v")),
        ("SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)", ("t", "u")),
        ("SELECT * FROM (SELECT * FROM (SELECT * FROM t))", ("t",)),
        ("SELECT * FROM ((t JOIN u ON true) JOIN v ON true)", ("t", "u", "v")),
        ("SELECT * FROM t LATERAL VIEW explode(a) x AS y", ("t",)),
        ("SELECT * FROM t, LATERAL (SELECT * FROM u WHERE u.a = t.a)", ("t", "u")),
        ("SELECT * FROM range(3), VALUES (1) AS w(a), explode(array(1)), t", ("t",)),
        ("SELECT * FROM t PIVOT (sum(a) FOR b IN (1, 2))", ("t",)),
        ("SELECT /*+ BROADCAST(u), MERGE(x) */ * FROM t JOIN u ON true", ("t", "u")),
        ("SELECT x.y.z FROM t x", ("t",)),
        ("SELECT sum(a) OVER w FROM t WINDOW w AS (ORDER BY b)", ("t",)),
        ("SELECT * FROM a.b.c", ("a.b.c",)),
        # CTEs
        ("WITH c AS (SELECT * FROM t) SELECT * FROM c", ("t",)),
        ("WITH c AS (SELECT * FROM t), d AS (SELECT * FROM C) SELECT * FROM D, u", ("t", "u")),
        ("WITH t AS (SELECT * FROM t) SELECT * FROM t", ("t",)),
        ("WITH d AS (SELECT * FROM c), c AS (SELECT * FROM t) SELECT * FROM c, d", ("c", "t")),
        ("SELECT * FROM (WITH c AS (SELECT * FROM t) SELECT * FROM c) JOIN c", ("t", "c")),
        ("WITH c AS (SELECT 1) SELECT * FROM (SELECT * FROM c) WHERE a IN (SELECT 1 FROM c)", ()),
        (
            (
                "WITH u AS (SELECT * FROM t) "
                "SELECT * FROM u, (WITH u AS (SELECT * FROM v) SELECT * FROM u)"
            ),
            ("t", "v"),
        ),
        ("WITH c AS (SELECT 1) SELECT * FROM s.c", ("s.c",)),
        ("WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT * FROM r, t) SELECT * FROM r", ("t",)),
        ("WITH r AS (SELECT * FROM r) SELECT * FROM r", ("r",)),
        ("WITH c AS (SELECT * FROM t) SELECT 1 FROM c UNION ALL SELECT 2 FROM c", ("t",)),
    ],
)
def test_the_tables_a_query_reads(query: str, tables: tuple[str, ...]) -> None:
    """Each table once, as first written, wherever it stands; names of CTEs only where they hide."""
    assert examine(query).tables == tables


def test_layout_comments_and_hints_are_no_change() -> None:
    """A reformatted query keeps its fingerprint, so nothing is built anew."""
    plain = view("SELECT a, sum(b) AS s FROM t GROUP BY a")
    other = view("select /*+ REPARTITION(3) */ a,\n  sum( b )as s -- total\nfrom t\n group\n by a")
    assert plain.fingerprint == other.fingerprint
    assert len(plain.fingerprint) == 16
    assert int(plain.fingerprint, 16) >= 0


@pytest.mark.parametrize(
    ("query", "clauses"),
    [
        ("SELECT a, sum(b) AS S FROM t GROUP BY a", ""),
        ("SELECT a, sum(c) AS s FROM t GROUP BY a", ""),
        ("SELECT a, sum(b) AS s FROM t GROUP BY `a`", ""),
        ("SELECT a, sum(b) AS s FROM t GROUP BY a", "CLUSTER BY (a)"),
        ("SELECT a, sum(b) AS s FROM t GROUP BY a", "PARTITIONED BY (a)"),
    ],
)
def test_content_and_layout_change_the_fingerprint(query: str, clauses: str) -> None:
    """Whatever changes rows, visible names or files asks for a build."""
    assert view("SELECT a, sum(b) AS s FROM t GROUP BY a").fingerprint != (
        view(query, clauses).fingerprint
    )


def test_blanks_inside_literals_count() -> None:
    """Only the space between words is layout."""
    for left, right in [("'a b'", "'a  b'"), ("r'a b'", "r'a  b'"), ("`a b`", "`a  b`")]:
        assert view(f"SELECT {left}").fingerprint != view(f"SELECT {right}").fingerprint


def test_other_clauses_alter_in_place() -> None:
    """Trigger, policy, comment, key and alarms need no new table."""
    clauses = (
        "COMMENT 'x' KEY (a) REFRESH MANUAL POLICY full WARN AFTER INTERVAL 1 DAY COPIES ('c')"
    )
    assert view("SELECT a FROM t").fingerprint == view("SELECT a FROM t", clauses).fingerprint


@pytest.mark.parametrize(
    "call",
    [
        "rand()",
        "RAND(3)",
        "random()",
        "randn()",
        "uuid()",
        "shuffle(a)",
        "monotonically_increasing_id()",
        "input_file_name()",
        "spark_partition_id()",
        "uniform(1, 2)",
        "randstr(3)",
        "current_user()",
        "current_user",
        "session_user",
        "user()",
        "version()",
        "reflect('a', 'b')",
        "`rand`()",
        "builtin.rand()",
    ],
)
def test_results_that_differ_from_run_to_run(call: str) -> None:
    """A call that no source decides is found, with its place."""
    ((name, place),) = nondeterminism(f"SELECT a,\n  {call} AS x FROM t", HERE)
    bare = call.removeprefix("builtin.").split("(")[0].strip("`")
    assert name == bare
    assert place == Location("f.sql", 2, 3 + call.index(bare) - call.startswith("`"))


def test_a_sample_is_not_decided_by_its_table() -> None:
    """TABLESAMPLE takes other rows each time."""
    query = "SELECT * FROM u JOIN t TABLESAMPLE (5 PERCENT) ON true"
    assert nondeterminism(query, HERE) == (("TABLESAMPLE", Location("f.sql", 1, 24)),)


@pytest.mark.parametrize(
    "call",
    [
        "now()",
        "current_timestamp()",
        "CURRENT_TIMESTAMP",
        "current_date",
        "current_date()",
        "curdate()",
        "localtimestamp",
        "unix_timestamp()",
        "TIMESTAMP 'now'",
        "date'Today '",
    ],
)
def test_results_that_differ_with_the_clock(call: str) -> None:
    """Reading the clock is found, and is not the same as being random."""
    ((_, place),) = clock_reads(f"SELECT a, {call} AS x FROM t", HERE)
    assert place == Location("f.sql", 1, 11)
    assert nondeterminism(f"SELECT a, {call} AS x FROM t", HERE) == ()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT rand FROM t",
        "SELECT t.rand, `uuid`, user, uuid AS now FROM t",
        "SELECT 'rand()', a AS current_date, t.current_date, current_date.x FROM t",
        "SELECT unix_timestamp(a), unix_timestamp ( a , 'yyyy' ) FROM t -- now()",
        "SELECT date '2020-01-01', timestamp(a), hash(a) FROM now",
    ],
)
def test_names_that_only_look_unstable(query: str) -> None:
    """Columns, aliases, strings and comments call nothing."""
    assert nondeterminism(query, HERE) == clock_reads(query, HERE) == ()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT a FROM t ORDER BY a LIMIT 3", 0),
        ("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u LIMIT 1)", 0),
        ("SELECT a FROM t OFFSET 3", 1),
        ("SELECT a FROM (SELECT a FROM t LIMIT 1) ORDER BY a LIMIT 3", 1),
    ],
)
def test_a_limit_needs_an_order(query: str, found: int) -> None:
    """LIMIT without ORDER BY is told, except where only existence is asked."""
    assert [r.code for r in examine(query).remarks] == ["UNORDERED_LIMIT"] * found


def test_doubled_quotes_are_read_as_spark_reads_them() -> None:
    """Since Spark 4, 'it''s' is one string with a quote in it."""
    tree = parse_query("""SELECT 'it''s', "a""b", 'a' 'b'""")
    assert isinstance(tree, exp.Select)
    first, second, third = tree.expressions
    assert (first.this, second.this) == ("it's", 'a"b')
    assert isinstance(third, exp.Concat)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT " + "(" * 2000 + "1" + ")" * 2000,
        "SELECT |> LIMIT x",
        "SELECT a FROM t |> LIMIT b",
    ],
)
def test_what_the_parser_chokes_on_is_a_syntax_error(query: str) -> None:
    """No query text brings down a check."""
    with pytest.raises(QuerySyntaxError):
        examine(query)


def test_a_very_long_condition_is_fine() -> None:
    """Depth that comes from many conditions, not from nesting, is no problem."""
    query = "SELECT a FROM t WHERE " + " OR ".join(f"a = {n}" for n in range(3000))
    assert examine(query).tables == ("t",)
