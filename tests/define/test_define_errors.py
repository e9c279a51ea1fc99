"""Every error of the parse and structure phases, at its position (S57)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import headwater.define
from headwater.define.codes import CODES
from headwater.define.diagnostics import Problem, Severity
from headwater.define.parse import parse
from headwater.define.statements import Create
from headwater.define.structure import check_structure

BASE = "CREATE SOURCE t FROM DELTA 't'; CREATE SOURCE u FROM DELTA 'u';\n"
"""One line of sources, so that the statement under test begins on line 2."""


def phase_one(text: str) -> list[Problem]:
    return list(parse(text).problems)


def phase_two(text: str) -> list[Problem]:
    parsed = parse(text)
    assert parsed.problems == ()
    found = check_structure([m.definition for m in parsed.statements if isinstance(m, Create)])
    return [problem for problem in found if problem.code != "UNUSED_SOURCE"]


def one_at_caret(problems: list[Problem], marked: str) -> Problem:
    """The only problem, which must stand where the marked text has its `^`."""
    (problem,) = problems
    before = marked[: marked.index("^")]
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    assert (problem.location.line, problem.location.column) == (line, column), problem
    return problem


PARSE_ERRORS = [
    # names
    ("CREATE SOURCE ^FROM DELTA 'p'", "SQL_SYNTAX", "expected a source's name, found `FROM`"),
    ("CREATE MATERIALIZED VIEW ^AS SELECT 1", "SQL_SYNTAX", "expected a view's name"),
    ("CREATE MATERIALIZED VIEW ^'v' AS SELECT 1", "SQL_SYNTAX", "found 'v'"),
    ("CREATE MATERIALIZED VIEW ^`` AS SELECT 1", "INVALID_NAME", "empty"),
    ("CREATE MATERIALIZED VIEW ^`a/b` AS SELECT 1", "INVALID_NAME", "`a/b` cannot be a name"),
    ("CREATE MATERIALIZED VIEW ^`.` AS SELECT 1", "INVALID_NAME", "cannot be a name"),
    (f"CREATE SOURCE ^{'x' * 129} FROM DELTA 'p'", "INVALID_NAME", "cannot be a name"),
    ("CREATE MATERIALIZED VIEW ^a.b AS SELECT 1", "INVALID_NAME", "`a.` is qualified"),
    # kinds and verbs
    ("CREATE ^MATERIALISED VIEW v AS SELECT 1", "SQL_SYNTAX", "MATERIALIZED VIEW"),
    ("CREATE MATERIALIZED ^TABLE v AS SELECT 1", "SQL_SYNTAX", "expected VIEW"),
    ("CREATE ^SORCE s FROM DELTA 'p'", "SQL_SYNTAX", "expected SOURCE"),
    (
        "CREATE OR REPLACE SOURCE ^IF NOT EXISTS s FROM DELTA 'p'",
        "CLAUSE_CONFLICT",
        "OR REPLACE and IF NOT EXISTS",
    ),
    # sources
    ("CREATE SOURCE s ^DELTA 'p'", "SQL_SYNTAX", "expected FROM, found `DELTA`"),
    ("CREATE SOURCE s FROM ^KAFKA 'p'", "SQL_SYNTAX", "DELTA, JDBC or FILES, found `KAFKA`"),
    ("CREATE SOURCE s FROM DELTA^", "SQL_SYNTAX", "found the end of the statement"),
    ("CREATE SOURCE s FROM DELTA ^''", "SQL_SYNTAX", "the path is empty"),
    ("CREATE SOURCE s FROM DELTA a.^'b'", "SQL_SYNTAX", "next part"),
    ("CREATE SOURCE s FROM DELTA 'p' KEY ^order_id", "SQL_SYNTAX", "expected `(`"),
    ("CREATE SOURCE s FROM DELTA 'p' KEY (^)", "SQL_SYNTAX", "expected a column's name"),
    ("CREATE SOURCE s FROM DELTA 'p' KEY (a ^b)", "SQL_SYNTAX", "expected `,` or `)`"),
    ("CREATE SOURCE s FROM DELTA 'p' KEY (a, b, ^A)", "DUPLICATE_ENTRY", "`A` is listed twice"),
    (
        "CREATE SOURCE s FROM DELTA 'p' KEY (a) ^KEY (b)",
        "DUPLICATE_CLAUSE",
        "KEY stands here twice",
    ),
    ("CREATE SOURCE s FROM DELTA 'p' AS ^SLOW", "SQL_SYNTAX", "STREAM or BATCH"),
    ("CREATE SOURCE s FROM DELTA 'p' ^AND", "SQL_SYNTAX", "KEY, AS or the end of the statement"),
    ("CREATE SOURCE s FROM JDBC 'u' KEY (a)^", "SQL_SYNTAX", "expected TABLE"),
    ("CREATE SOURCE s FROM JDBC ^u TABLE 't'", "SQL_SYNTAX", "a JDBC address in quotes"),
    ("CREATE SOURCE s FROM FILES 'p' ^TABLE 't'", "SQL_SYNTAX", "expected FORMAT"),
    # view clauses
    ("CREATE MATERIALIZED VIEW v^", "SQL_SYNTAX", "expected AS and a query"),
    ("CREATE MATERIALIZED VIEW v ^SELECT 1", "SQL_SYNTAX", "expected KEY, CLUSTER BY"),
    ("CREATE MATERIALIZED VIEW v COMMENT ^x AS SELECT 1", "SQL_SYNTAX", "a comment in quotes"),
    ("CREATE MATERIALIZED VIEW v CLUSTER BY ^a AS SELECT 1", "SQL_SYNTAX", "expected `(`"),
    ("CREATE MATERIALIZED VIEW v COPIES (^a) AS SELECT 1", "SQL_SYNTAX", "a path in quotes"),
    ("CREATE MATERIALIZED VIEW v COPIES ('a', ^'a') AS SELECT 1", "DUPLICATE_ENTRY", "twice"),
    ("CREATE MATERIALIZED VIEW v REFRESH ^OFTEN AS SELECT 1", "SQL_SYNTAX", "ON CHANGE, GREEDY"),
    ("CREATE MATERIALIZED VIEW v REFRESH ON ^COMMIT AS SELECT 1", "SQL_SYNTAX", "CHANGE"),
    ("CREATE MATERIALIZED VIEW v TARGET LAG ^5 AS SELECT 1", "SQL_SYNTAX", "DOWNSTREAM"),
    ("CREATE MATERIALIZED VIEW v POLICY ^STRIKT AS SELECT 1", "SQL_SYNTAX", "STRICT or FULL"),
    (
        "CREATE MATERIALIZED VIEW v POLICY full ^POLICY full AS SELECT 1",
        "DUPLICATE_CLAUSE",
        "POLICY stands here twice",
    ),
    # intervals
    ("CREATE MATERIALIZED VIEW v REFRESH EVERY ^5 MINUTES AS SELECT 1", "SQL_SYNTAX", "INTERVAL"),
    (
        "CREATE MATERIALIZED VIEW v WARN AFTER INTERVAL 5 ^FORTNIGHTS AS SELECT 1",
        "INVALID_INTERVAL",
        "unknown unit `FORTNIGHTS`",
    ),
    (
        "CREATE MATERIALIZED VIEW v WARN AFTER INTERVAL ^-5 DAYS AS SELECT 1",
        "INVALID_INTERVAL",
        "negative",
    ),
    # cron
    (
        "CREATE MATERIALIZED VIEW v REFRESH CRON ^'61 * * * *' AS SELECT 1",
        "INVALID_CRON",
        "outside 0-59",
    ),
    # queries
    ("CREATE MATERIALIZED VIEW v AS^", "SQL_SYNTAX", "expected a query"),
    ("CREATE MATERIALIZED VIEW v AS ^DELETE FROM t", "SQL_SYNTAX", "expected a query"),
    ("CREATE MATERIALIZED VIEW v AS SELECT a b ^c FROM t", "SQL_SYNTAX", "unexpected `c`"),
    ("CREATE MATERIALIZED VIEW v AS\nSELECT a,\n  (b ^FROM t", "SQL_SYNTAX", "expected `)`"),
    ("CREATE MATERIALIZED VIEW v AS SELECT a FROM ^1", "SQL_SYNTAX", "expected table name"),
    ("CREATE MATERIALIZED VIEW v AS SELECT a FROM t ^WHERE", "SQL_SYNTAX", "missing at `WHERE`"),
    # text that stays open
    ("CREATE MATERIALIZED VIEW v AS SELECT ^'abc FROM t", "UNCLOSED_TEXT", "this string"),
    ('CREATE MATERIALIZED VIEW v AS SELECT ^"abc FROM t', "UNCLOSED_TEXT", "this string"),
    ("CREATE MATERIALIZED VIEW v AS SELECT ^r'abc FROM t", "UNCLOSED_TEXT", "this string"),
    ("CREATE MATERIALIZED VIEW v AS SELECT ^`abc FROM t", "UNCLOSED_TEXT", "this quoted name"),
    ("CREATE SOURCE s /* a */ ^/* b /* c */ FROM", "UNCLOSED_TEXT", "this comment"),
    ("CREATE MATERIALIZED VIEW v AS SELECT ^X'zz' FROM t", "UNCLOSED_TEXT", "hexadecimal"),
    ("-- it's fine\nCREATE SOURCE s FROM DELTA ^'it", "UNCLOSED_TEXT", "never closed"),
    # handlers and consumers
    ("CREATE HANDLER h ^v1, v2", "SQL_SYNTAX", "expected PROCESS"),
    ("CREATE HANDLER h PROCESS v1 ^v2", "SQL_SYNTAX", "expected `,`"),
    ("CREATE HANDLER h PROCESS v1, ^V1", "DUPLICATE_ENTRY", "`V1` is listed twice"),
    ("CREATE CONSUMER c ^TYPE delta", "SQL_SYNTAX", "expected ON"),
    ("CREATE CONSUMER c ON v TYPE ^kafka", "SQL_SYNTAX", "FULLTEXT, VECTOR"),
    ("CREATE CONSUMER c ON v TYPE delta OPTIONS (a ^'x')", "SQL_SYNTAX", "expected `=`"),
    ("CREATE CONSUMER c ON v TYPE delta OPTIONS (a = ^b)", "SQL_SYNTAX", "TRUE, FALSE"),
    ("CREATE CONSUMER c ON v TYPE delta OPTIONS (a = 1, ^a = 2)", "DUPLICATE_ENTRY", "`a`"),
    ("CREATE CONSUMER c ON v TYPE delta PRIORITY ^-1", "SQL_SYNTAX", "priority"),
    ("CREATE CONSUMER c ON v TYPE delta TRIGGER ^SOON", "SQL_SYNTAX", "DEFAULT, GREEDY"),
    ("CREATE CONSUMER c ON v TYPE delta START ^NOW", "SQL_SYNTAX", "expected FROM"),
    # commands
    ("DROP SOURCE s ^CASCADE", "SQL_SYNTAX", "expected the end of the statement"),
    ("REFRESH MATERIALIZED VIEW v ^FAST", "SQL_SYNTAX", "FULL, AS OF"),
    ("REFRESH MATERIALIZED VIEW v AS OF ^x", "SQL_SYNTAX", "a version number"),
    ("PAUSE ^v", "SQL_SYNTAX", "MATERIALIZED VIEW, HANDLER or CONSUMER"),
    ("CANCEL^", "SQL_SYNTAX", "the id of an attempt"),
    ("ALTER MATERIALIZED VIEW v SET^", "SQL_SYNTAX", "expected a clause"),
    ("ALTER MATERIALIZED VIEW v SET ^CLUSTER BY (a)", "CLAUSE_CONFLICT", "cannot be altered"),
]


@pytest.mark.parametrize(("marked", "code", "message"), PARSE_ERRORS)
def test_parse_errors_stand_where_the_mistake_is(marked: str, code: str, message: str) -> None:
    """S57: a statement that does not parse says what was expected, and exactly where."""
    problem = one_at_caret(phase_one(marked.replace("^", "")), marked)
    assert problem.code == code
    assert message in problem.message
    assert problem.severity is Severity.ERROR


STRUCTURE_ERRORS = [
    ("CREATE SOURCE ^sys$x FROM DELTA 'p'", "RESERVED_NAME", "begin with sys$"),
    ("CREATE MATERIALIZED VIEW ^__HW_v AS SELECT a FROM t", "RESERVED_NAME", "begin with __hw_"),
    ("CREATE MATERIALIZED VIEW v AS SELECT a AS ^__hw_w FROM t", "RESERVED_NAME", "Headwater's"),
    ("CREATE SOURCE ^T FROM DELTA 'x'", "DUPLICATE_NAME", "source defined at <sql>:1:15"),
    ("CREATE MATERIALIZED VIEW ^U AS SELECT a FROM t", "DUPLICATE_NAME", "view `U`"),
    (
        (
            "CREATE MATERIALIZED VIEW v AS SELECT a FROM t;\n"
            "CREATE MATERIALIZED VIEW ^V AS SELECT b FROM t"
        ),
        "DUPLICATE_NAME",
        "defined at <sql>:2:26",
    ),
    (
        (
            "CREATE MATERIALIZED VIEW v AS SELECT a FROM t; CREATE HANDLER h PROCESS v;\n"
            "CREATE MATERIALIZED VIEW w AS SELECT a FROM t; CREATE HANDLER ^H PROCESS w"
        ),
        "DUPLICATE_NAME",
        "handler `H`",
    ),
    (
        "CREATE MATERIALIZED VIEW v AS SELECT a FROM t; CREATE HANDLER ^V PROCESS v",
        "DUPLICATE_NAME",
        "handler `V` has the name of a view",
    ),
    (
        "CREATE MATERIALIZED VIEW ^v CLUSTER BY (a) PARTITIONED BY (b) AS SELECT a, b FROM t",
        "CLAUSE_CONFLICT",
        "clustered or partitioned",
    ),
    (
        "CREATE MATERIALIZED VIEW ^v REFRESH MANUAL TARGET LAG DOWNSTREAM AS SELECT a FROM t",
        "CLAUSE_CONFLICT",
        "two schedules",
    ),
    (
        (
            "CREATE MATERIALIZED VIEW ^v WARN AFTER INTERVAL 2 DAYS OVERDUE AFTER INTERVAL 1 DAY "
            "AS SELECT a FROM t"
        ),
        "CLAUSE_CONFLICT",
        "WARN AFTER is longer",
    ),
    ("CREATE MATERIALIZED VIEW v AS\n SELECT a\n FROM ^tt", "UNKNOWN_TABLE", "named `tt`"),
    (
        "CREATE MATERIALIZED VIEW v AS SELECT a FROM t WHERE a IN (SELECT b FROM ^x)",
        "UNKNOWN_TABLE",
        "named `x`",
    ),
    ("CREATE MATERIALIZED VIEW v AS SELECT a FROM ^a.b.c", "QUALIFIED_TABLE", "`a.b.c`"),
    ("CREATE MATERIALIZED VIEW v AS SELECT a FROM ^delta.`/x/y`", "QUALIFIED_TABLE", "/x/y"),
    ("CREATE MATERIALIZED VIEW v AS SELECT a FROM ^t VERSION AS OF 3", "PINNED_TABLE", "`t`"),
    ("CREATE MATERIALIZED VIEW v AS SELECT a FROM t^@v3", "QUERY_UNSUPPORTED", "parameters"),
    ("CREATE MATERIALIZED VIEW v AS SELECT a FROM t WHERE a = ^:p", "QUERY_UNSUPPORTED", "param"),
    ("CREATE MATERIALIZED VIEW v AS SELECT * FROM ^f(TABLE(t))", "QUERY_UNSUPPORTED", "`f`"),
    ("CREATE MATERIALIZED VIEW v AS SELECT * FROM ^identifier('t')", "QUERY_UNSUPPORTED", "ident"),
    ("CREATE MATERIALIZED VIEW ^v AS SELECT a FROM V", "CYCLE", "v -> v"),
    (
        (
            "CREATE MATERIALIZED VIEW ^a AS SELECT 1 FROM b; "
            "CREATE MATERIALIZED VIEW b AS SELECT 1 FROM c, t; "
            "CREATE MATERIALIZED VIEW c AS SELECT 1 FROM a"
        ),
        "CYCLE",
        "a -> b -> c -> a",
    ),
    (
        (
            "CREATE MATERIALIZED VIEW v AS SELECT a FROM t; CREATE HANDLER h PROCESS v;\n"
            "CREATE HANDLER g PROCESS ^v"
        ),
        "VIEW_IN_TWO_HANDLERS",
        "handler `h`",
    ),
    ("CREATE HANDLER h PROCESS ^v", "UNKNOWN_VIEW", "no view is named `v`"),
    ("CREATE HANDLER h PROCESS ^t", "UNKNOWN_VIEW", "`t` is a source"),
    (
        "CREATE MATERIALIZED VIEW ^v COMPUTE ONCE (x) AS SELECT a, rand() x FROM t",
        "CLAUSE_CONFLICT",
        "which row is which",
    ),
    (
        "CREATE MATERIALIZED VIEW ^v COMPUTE ONCE (x) KEY (X) AS SELECT a, rand() x FROM t",
        "CLAUSE_CONFLICT",
        "KEY cannot be computed once",
    ),
    ("^CREATE SOURCE f FROM FILES 'p'", "STATEMENT_UNSUPPORTED", "not carried out"),
    (
        "^CREATE SOURCE f FROM JDBC 'u' TABLE 't' KEY (a)",
        "STATEMENT_UNSUPPORTED",
        "FROM JDBC is not carried out by this version",
    ),
    (
        "CREATE MATERIALIZED VIEW v AS SELECT a FROM t; ^CREATE CONSUMER c ON v TYPE delta",
        "STATEMENT_UNSUPPORTED",
        "CREATE CONSUMER",
    ),
]


@pytest.mark.parametrize(("marked", "code", "message"), STRUCTURE_ERRORS)
def test_structure_errors_stand_where_the_mistake_is(marked: str, code: str, message: str) -> None:
    """S57: definitions that do not fit together say which and where, inside queries too."""
    problem = one_at_caret(phase_two(BASE + marked.replace("^", "")), BASE + marked)
    assert problem.code == code
    assert message in problem.message
    assert problem.severity is Severity.ERROR


def test_a_schedule_follows_the_clock() -> None:
    """A view that asks the clock and is refreshed as time goes by is nothing to warn of."""
    for trigger in ("EVERY INTERVAL 1 HOUR", "CRON '0 6 * * *'", "MANUAL"):
        view = f"CREATE MATERIALIZED VIEW v REFRESH {trigger} AS SELECT now() AS d FROM t"
        assert phase_two(BASE + view) == []


WARNINGS = [
    ("CREATE MATERIALIZED VIEW v AS SELECT ^current_date AS d FROM t", "CLOCK_DEPENDENT"),
    ("CREATE MATERIALIZED VIEW v REFRESH GREEDY AS SELECT ^now() AS d FROM t", "CLOCK_DEPENDENT"),
    ("CREATE MATERIALIZED VIEW v AS SELECT a FROM t ^LIMIT 3", "UNORDERED_LIMIT"),
    ("CREATE MATERIALIZED VIEW v AS SELECT ^first(a) AS x FROM t", "ORDER_DEPENDENT"),
    ("CREATE MATERIALIZED VIEW v AS SELECT size(a), ^collect_list(a) FROM t", "ORDER_DEPENDENT"),
    ("CREATE MATERIALIZED VIEW v AS SELECT ^max_by(a, b) AS x FROM t", "ORDER_DEPENDENT"),
    ("CREATE MATERIALIZED VIEW v AS SELECT ^mode(a) AS x FROM t", "ORDER_DEPENDENT"),
    (
        "CREATE MATERIALIZED VIEW v AS SELECT ^listagg(a) WITHIN GROUP (ORDER BY b) AS x FROM t",
        "ORDER_DEPENDENT",
    ),
    (
        "CREATE MATERIALIZED VIEW v AS SELECT ^row_number() OVER (ORDER BY b) AS x FROM t",
        "WINDOW_TIES",
    ),
    (
        (
            "CREATE MATERIALIZED VIEW v AS SELECT ^sum(a) OVER (ORDER BY b ROWS 2 PRECEDING) AS x "
            "FROM t"
        ),
        "WINDOW_TIES",
    ),
    ("CREATE MATERIALIZED VIEW v POLICY FULL AS SELECT ^rand() AS x FROM t", "NONDETERMINISTIC"),
    ("CREATE MATERIALIZED VIEW v AS SELECT ^rand() FROM t", "NONDETERMINISTIC"),
]

SETTLED = [
    "SELECT sort_array(collect_list(a)) AS x FROM t",
    "SELECT listagg(a, ',') WITHIN GROUP (ORDER BY a) AS x FROM t",
    "SELECT size(collect_set(a)) AS x FROM t",
    "SELECT listagg(a) WITHIN GROUP (ORDER BY b, a) AS x FROM t",
    "SELECT max_by(a, (b, a)) AS x, min_by(upper(a), a) AS y, max_by(a, a) AS z FROM t",
    "SELECT a, max_by(b, c) AS x FROM t GROUP BY a, k",
    "SELECT max_by(a, struct(b, k)) AS x FROM t",
    "SELECT mode(a, true) AS x, mode() WITHIN GROUP (ORDER BY a) AS y FROM t",
    "SELECT rank() OVER (PARTITION BY a ORDER BY b) AS x FROM t",
    "SELECT sum(a) OVER (PARTITION BY a ORDER BY b) AS x FROM t",
    "SELECT row_number() OVER (PARTITION BY a ORDER BY b, k) AS x FROM t",
]


@pytest.mark.parametrize("query", SETTLED)
def test_what_no_order_can_change_does_not_warn(query: str) -> None:
    """A list that is sorted, a rank that gives equals the same, an order that names the key."""
    text = f"CREATE SOURCE t FROM DELTA 'x' KEY (k); CREATE MATERIALIZED VIEW v AS {query}"
    statements = [made.definition for made in parse(text).statements]
    assert check_structure(statements) == ()


@pytest.mark.parametrize(("marked", "code"), WARNINGS)
def test_warnings_stand_where_their_cause_is(marked: str, code: str) -> None:
    """S57: what a user may leave as it is only warns."""
    problem = one_at_caret(phase_two(BASE + marked.replace("^", "")), BASE + marked)
    assert (problem.code, problem.severity) == (code, Severity.WARNING)


def test_a_jdbc_source_needs_a_key() -> None:
    """S55: what is reloaded and compared cannot be without a key."""
    codes = {p.code for p in phase_two("CREATE SOURCE s FROM JDBC 'u' TABLE 't'")}
    assert codes == {"MISSING_KEY", "STATEMENT_UNSUPPORTED"}


def test_an_unused_source_warns() -> None:
    """S57: a source that no view reads is told, and harms nothing."""
    parsed = parse(
        "CREATE SOURCE a FROM DELTA 'x';\nCREATE SOURCE Lonely FROM DELTA 'y';\n"
        "CREATE MATERIALIZED VIEW v AS SELECT 1 FROM A"
    )
    found = check_structure([m.definition for m in parsed.statements if isinstance(m, Create)])
    (problem,) = found
    assert (problem.code, problem.severity) == ("UNUSED_SOURCE", Severity.WARNING)
    assert (problem.location.line, problem.location.column) == (2, 15)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("CREATE MATERIALIZED VIEW v POLCY full AS SELECT 1", "did you mean POLICY?"),
        ("CREATE MATERIALIZED VIEW v POLICY strct AS SELECT 1", "did you mean STRICT?"),
        ("CREATE SOURCE s FROM DELTTA 'p'", "did you mean DELTA?"),
        ("CREATE MATERIALISED VIEW v AS SELECT 1", "did you mean MATERIALIZED?"),
        ("CREATE MATERIALIZED VIEW v WARN AFTER INTERVAL 5 MINTES AS SELECT 1", "MINUTES?"),
        ("CREATE MATERIALIZED VIEW v WARN AFTER INTERVAL 1 MONTH AS SELECT 1", "31 DAYS"),
    ],
)
def test_a_near_miss_is_suggested(text: str, hint: str) -> None:
    """A slip of the pen is answered with the word that was meant."""
    (problem,) = phase_one(text)
    assert hint in problem.hint


def test_unknown_tables_suggest_what_exists() -> None:
    """The hint names the nearest source or view as it was written, or how to make a source."""
    found = phase_two(
        "CREATE SOURCE Orders FROM DELTA 'x'; "
        "CREATE MATERIALIZED VIEW v AS SELECT 1 FROM ordrs, zzz, a.b.Sales, delta.`/x/y`"
    )
    assert [problem.hint for problem in found] == [
        "did you mean `Orders`?",
        "CREATE SOURCE zzz FROM DELTA ...",
        "CREATE SOURCE Sales FROM DELTA a.b.Sales, and read Sales",
        "CREATE SOURCE y FROM DELTA '/x/y', and read y",
    ]


def test_a_table_missing_in_several_places_is_told_once_per_view() -> None:
    """One mistake is one error."""
    found = phase_two("CREATE MATERIALIZED VIEW v AS SELECT 1 FROM x JOIN X ON true")
    assert [problem.code for problem in found] == ["UNKNOWN_TABLE"]


def test_two_separate_circles_are_both_told() -> None:
    """Each circle of views is an error of its own."""
    circle = "CREATE MATERIALIZED VIEW {0} AS SELECT 1 FROM {1};"
    text = "".join(circle.format(*pair) for pair in ["ab", "ba", "cd", "dc"])
    messages = [problem.message for problem in phase_two(text)]
    assert [message.split(": ")[1] for message in messages] == ["a -> b -> a", "c -> d -> c"]


def test_every_code_is_listed() -> None:
    """Whatever defining can report is in the documentation's list of codes."""
    folder = Path(str(headwater.define.__file__)).parent
    text = "".join(path.read_text() for path in folder.rglob("*.py") if path.name != "codes.py")
    reported = r'(?:error|warning|refused|Remark|QuerySyntaxError)\(\s*"([A-Z_]+)"'
    used = set(re.findall(reported, text))
    assert used <= CODES.keys()
    assert len(used) > 20
    assert all(sentence.endswith((".", ").")) for sentence in CODES.values())
