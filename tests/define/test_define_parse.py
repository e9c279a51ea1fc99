"""Statements as values."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from headwater.define.consumer import ConsumerType, OwnScan, Periodic, SharedScan
from headwater.define.kind import Kind
from headwater.define.parse import parse
from headwater.define.source import Cadence, SourceFormat
from headwater.define.statements import (
    Alter,
    Cancel,
    CreateView,
    Drop,
    Pause,
    PlainSql,
    Refresh,
    Resume,
)
from headwater.define.trigger import Cron, Every, Greedy, Manual, OnChange
from headwater.vocabulary.location import Location
from headwater.vocabulary.technique import Policy


def only(text: str) -> Any:
    """The one statement of a text that must be sound."""
    parsed = parse(text)
    assert parsed.problems == ()
    (statement,) = parsed.statements
    return statement


def view(clauses: str, query: str = "SELECT a FROM t") -> Any:
    return only(f"CREATE MATERIALIZED VIEW v {clauses} AS {query}").definition


def test_a_delta_source_by_path() -> None:
    """A source is its name, its path, its key and its cadence."""
    made = only("CREATE SOURCE Orders FROM DELTA 'data/orders' KEY (order_id, Line) AS BATCH")
    source = made.definition
    assert (source.name, source.display) == ("orders", "Orders")
    assert (source.format, source.path, source.table) == (SourceFormat.DELTA, "data/orders", None)
    assert source.key == ("order_id", "Line")
    assert source.cadence is Cadence.BATCH
    assert not made.or_replace
    assert not made.if_not_exists


def test_a_delta_source_by_catalog_name() -> None:
    """A catalog name keeps its parts, quoted again where they need it."""
    source = only("create source o from delta main.`my shop`.orders").definition
    assert source.table == "main.`my shop`.orders"
    assert source.path is None
    assert source.cadence is Cadence.STREAM


def test_clauses_of_a_source_come_in_any_order() -> None:
    """Order decides nothing."""
    left = only("CREATE SOURCE s FROM DELTA 'p' AS STREAM KEY (a)").definition
    right = only("CREATE SOURCE s FROM DELTA 'p' KEY (a) AS STREAM").definition
    assert (left.key, left.cadence) == (right.key, right.cadence) == (("a",), Cadence.STREAM)


def test_jdbc_and_file_sources_are_read_whole() -> None:
    """Sources of a later version already parse into all their parts."""
    jdbc = only(
        "CREATE SOURCE p FROM JDBC 'jdbc:x' TABLE 't' KEY (id) RELOAD EVERY INTERVAL 1 HOUR"
    ).definition
    assert (jdbc.format, jdbc.url, jdbc.table) == (SourceFormat.JDBC, "jdbc:x", "t")
    assert (jdbc.key, jdbc.reload_every) == (("id",), timedelta(hours=1))
    files = only("CREATE SOURCE e FROM FILES 'landing/' FORMAT parquet KEY (id)").definition
    assert (files.format, files.path, files.file_format) == (
        SourceFormat.FILES,
        "landing/",
        "parquet",
    )


def test_a_view_with_every_clause() -> None:
    """Each clause fills its field."""
    made = view(
        "COMMENT 'it''s ours' KEY (a) CLUSTER BY (a, b) COPIES ('x', 'y') REFRESH GREEDY "
        "TARGET LAG INTERVAL 5 MINUTES POLICY STRICT "
        "WARN AFTER INTERVAL 1 HOUR OVERDUE AFTER INTERVAL 2 HOURS"
    )
    assert made.comment == "it's ours"
    assert made.key == ("a",)
    assert made.cluster_by == ("a", "b")
    assert made.copies == ("x", "y")
    assert made.trigger == Greedy()
    assert made.target_lag == timedelta(minutes=5)
    assert made.policy is Policy.STRICT
    assert (made.warn_after, made.overdue_after) == (timedelta(hours=1), timedelta(hours=2))


def test_a_view_without_clauses_has_the_defaults() -> None:
    """Nothing said means: on change, the cheapest technique, no layout, no alarms."""
    made = view("")
    assert (made.trigger, made.policy, made.target_lag) == (OnChange(), Policy.AUTO, None)
    assert (made.key, made.cluster_by, made.partitioned_by, made.copies) == ((), (), (), ())
    assert (made.comment, made.warn_after, made.overdue_after) == (None, None, None)


@pytest.mark.parametrize(
    ("clause", "trigger"),
    [
        ("REFRESH ON CHANGE", OnChange()),
        ("REFRESH GREEDY", Greedy()),
        ("refresh every interval '90' seconds", Every(timedelta(seconds=90))),
        ("REFRESH CRON '0 6 * * MON'", Cron("0 6 * * MON")),
        ("REFRESH MANUAL", Manual()),
    ],
)
def test_triggers(clause: str, trigger: object) -> None:
    """Every way to be refreshed can be said, and says itself again."""
    made = view(clause)
    assert made.trigger == trigger
    assert view(f"REFRESH {made.trigger}").trigger == trigger


def test_target_lag_downstream() -> None:
    """A view may be as late as those that read it allow."""
    assert view("TARGET LAG DOWNSTREAM").target_lag == "DOWNSTREAM"


def test_the_query_is_kept_as_written_and_knows_its_place() -> None:
    """Positions inside the query can be told as positions in the file."""
    text = "-- mine\nCREATE MATERIALIZED VIEW v AS -- why\n  SELECT a, -- one\n  b FROM t -- end\n;"
    made = parse(text, "views/v.sql").statements[0]
    assert isinstance(made, CreateView)
    assert made.definition.query == "SELECT a, -- one\n  b FROM t"
    assert made.definition.query_location == Location("views/v.sql", 3, 3)
    assert made.definition.location == Location("views/v.sql", 2, 1)
    assert made.definition.name_location == Location("views/v.sql", 2, 26)
    assert made.definition.text.startswith("CREATE MATERIALIZED VIEW v AS -- why")
    assert made.definition.text.endswith("FROM t")


def test_a_statement_taken_out_of_a_file_keeps_its_positions() -> None:
    """The ledger's copy of a statement still points into the file it came from."""
    text = "\n\n  CREATE MATERIALIZED VIEW v AS\n SELECT a FROM t;"
    first = parse(text, "f.sql").statements[0]
    assert isinstance(first, CreateView)
    made = first.definition
    again = parse(made.text, start=made.location).statements[0]
    assert isinstance(again, CreateView)
    assert again.definition == made


def test_names_differ_only_by_more_than_case() -> None:
    """Backquotes and case change how a name is shown, not what it means."""
    made = only("create materialized view `Top-Sellers` as select 1").definition
    assert (made.name, made.display) == ("top-sellers", "Top-Sellers")
    assert only("DROP MATERIALIZED VIEW TOP$X").name == "top$x"


def test_semicolons_in_strings_comments_and_names_separate_nothing() -> None:
    """Only a semicolon that stands by itself ends a statement."""
    parsed = parse(
        "CREATE MATERIALIZED VIEW a AS SELECT ';' x, `;` y -- ;\n /* ; /* ; */ */ FROM t;;\n"
        "CREATE SOURCE t FROM DELTA 'a;b'"
    )
    assert parsed.problems == ()
    assert [type(made).__name__ for made in parsed.statements] == ["CreateView", "CreateSource"]


def test_or_replace_and_if_not_exists() -> None:
    """Both ways to meet a namesake are kept for whoever carries the statement out."""
    assert only("CREATE OR REPLACE SOURCE s FROM DELTA 'p'").or_replace
    assert only("CREATE MATERIALIZED VIEW IF NOT EXISTS v AS SELECT 1").if_not_exists


def test_a_handler_lists_its_views() -> None:
    """A handler knows its views and where each is named."""
    made = only("CREATE HANDLER h PROCESS V1,\n v2").definition
    assert made.views == ("v1", "v2")
    assert [(place.line, place.column) for place in made.places] == [(1, 26), (2, 2)]


def test_a_consumer_with_every_clause() -> None:
    """Options keep their types; triggers have three kinds."""
    made = only(
        "CREATE CONSUMER c ON V TYPE postgres OPTIONS (url = 'x', batch.size = 10, f = 1.5, "
        "'on' = TRUE, off = false, n = -3) TRIGGER PERIODIC INTERVAL 10 SECONDS SHARED "
        "PRIORITY 3 START FROM NOW"
    ).definition
    assert (made.view, made.type) == ("v", ConsumerType.POSTGRES)
    assert dict(made.options) == {
        "url": "x",
        "batch.size": 10,
        "f": 1.5,
        "on": True,
        "off": False,
        "n": -3,
    }
    assert made.trigger == Periodic(timedelta(seconds=10), shared=True)
    assert (made.priority, made.start_from_now) == (3, True)
    plain = only("CREATE CONSUMER c ON v TYPE delta").definition
    assert (plain.trigger, plain.priority, plain.start_from_now) == (SharedScan(), 0, False)
    assert only("CREATE CONSUMER c ON v TYPE python TRIGGER GREEDY").definition.trigger == OwnScan()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DROP SOURCE IF EXISTS s", Drop(Kind.SOURCE, "s", True, Location("<sql>", 1, 1))),
        ("DROP MATERIALIZED VIEW V", Drop(Kind.VIEW, "v", False, Location("<sql>", 1, 1))),
        ("DROP HANDLER h", Drop(Kind.HANDLER, "h", False, Location("<sql>", 1, 1))),
        ("REFRESH MATERIALIZED VIEW v", Refresh("v", False, None, Location("<sql>", 1, 1))),
        ("REFRESH MATERIALIZED VIEW v FULL", Refresh("v", True, None, Location("<sql>", 1, 1))),
        ("REFRESH MATERIALIZED VIEW v AS OF 7", Refresh("v", False, 7, Location("<sql>", 1, 1))),
        (
            "REFRESH MATERIALIZED VIEW v AS OF VERSION 7",
            Refresh("v", False, 7, Location("<sql>", 1, 1)),
        ),
        ("PAUSE MATERIALIZED VIEW v", Pause(Kind.VIEW, "v", Location("<sql>", 1, 1))),
        ("RESUME CONSUMER c", Resume(Kind.CONSUMER, "c", Location("<sql>", 1, 1))),
        ("CANCEL REFRESH '1f-2b'", Cancel("1f-2b", Location("<sql>", 1, 1))),
        ("CANCEL 'x'", Cancel("x", Location("<sql>", 1, 1))),
        (
            "ALTER MATERIALIZED VIEW v SET POLICY full REFRESH MANUAL",
            Alter(
                Kind.VIEW,
                "v",
                (("policy", Policy.FULL), ("trigger", Manual())),
                Location("<sql>", 1, 1),
            ),
        ),
        (
            "ALTER SOURCE s SET AS BATCH",
            Alter(Kind.SOURCE, "s", (("cadence", Cadence.BATCH),), Location("<sql>", 1, 1)),
        ),
    ],
)
def test_commands(text: str, expected: object) -> None:
    """Statements that act are values too."""
    assert only(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "CREATE TABLE t (a INT)",
        "CREATE VIEW v AS SELECT 1",
        "CREATE OR REPLACE TEMPORARY VIEW v AS SELECT 1",
        "DROP TABLE t",
        "REFRESH TABLE t",
        "ALTER TABLE t ADD COLUMN a INT",
        "SHOW TABLES",
        "INSERT INTO t VALUES (1)",
    ],
)
def test_spark_s_own_statements_are_handed_on(text: str) -> None:
    """What is not ours is kept as it stands."""
    assert only(f"  {text} ;") == PlainSql(text, Location("<sql>", 1, 3))


def test_empty_text_holds_nothing() -> None:
    """Blanks, comments and lone semicolons are no statements."""
    assert parse(" ;; -- nothing\n /* here */ ;").statements == ()
    assert parse("") == parse(" \n")


def test_all_errors_are_collected_and_good_statements_kept() -> None:
    """One bad statement hides neither the errors nor the statements around it."""
    parsed = parse(
        "CREATE SOURCE FROM DELTA 'x';\n"
        "CREATE SOURCE good FROM DELTA 'x';\n"
        "CREATE MATERIALIZED VIEW v POLICY never REFRESH EVERY INTERVAL 0 DAYS AS SELECT (1;\n"
        "CREATE HANDLER h PROCESS good;\n"
        "CREATE SOURCE open FROM DELTA 'x;\n"
    )
    found = sorted((p.location.line, p.location.column, p.code) for p in parsed.problems)
    assert found == [
        (1, 15, "SQL_SYNTAX"),
        (3, 35, "SQL_SYNTAX"),
        (3, 55, "INVALID_INTERVAL"),
        (3, 82, "SQL_SYNTAX"),
        (5, 31, "UNCLOSED_TEXT"),
    ]
    assert [type(made).__name__ for made in parsed.statements] == ["CreateSource", "CreateHandler"]
