"""Types that Spark treats in a way of its own, from the table to the view on a view."""

from __future__ import annotations

import pytest

from headwater.vocabulary.errors import HeadwaterError
from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import INCREMENTAL, Lake, bag

CHARS = {
    "one": "SELECT k, c FROM t WHERE c = 'a'",
    "joined": "SELECT t.k, u.n FROM t JOIN u ON t.c = u.c",
    "unmatched": "SELECT t.k, u.n FROM t LEFT JOIN u ON t.c = u.c",
    "counted": "SELECT c, count(*) AS n FROM t GROUP BY c",
    "in_list": "SELECT k FROM t WHERE c IN ('a', 'b')",
    "in_query": "SELECT k FROM t WHERE c IN (SELECT c FROM u)",
    "not_in": "SELECT k FROM t WHERE c NOT IN (SELECT c FROM u WHERE c IS NOT NULL)",
    "united": "SELECT c AS x FROM t UNION SELECT c FROM u",
    "of_one": "SELECT k, c FROM one WHERE c = 'a'",
}
REBUILT = {"in_query", "not_in", "united"}


def test_char_columns(lake: Lake) -> None:
    """S25: blanks are added where Spark adds them and nowhere else, also in a view on a view."""
    lake.spark.sql(
        f"CREATE TABLE delta.`{lake.folder}/data/t` (k INT, c CHAR(5)) USING DELTA "
        "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    )
    lake.spark.sql(
        f"CREATE TABLE delta.`{lake.folder}/data/u` (c CHAR(3), n STRING) USING DELTA "
        "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    )
    lake.register("t")
    lake.register("u")
    lake.run("INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (3, NULL), (4, 'abc')")
    lake.run("INSERT INTO {u} VALUES ('a', 'x'), ('abc', 'y')")
    for name, query in CHARS.items():
        lake.view(name, query)
    steps = (
        "INSERT INTO {t} VALUES (5, 'a'), (6, 'b'), (7, 'abc')",
        "UPDATE {t} SET c = 'b' WHERE k = 5",
        "INSERT INTO {u} VALUES ('b', 'z')",
        "DELETE FROM {t} WHERE k IN (1, 7)",
    )
    _assert_shown(lake)
    for statement in steps:
        lake.run(statement)
        receipts = lake.refresh()
        _assert_shown(lake)
        ways = {view: receipt.technique for view, receipt in receipts.items()}
        assert {v for v, way in ways.items() if way not in INCREMENTAL} <= REBUILT


def _assert_shown(lake: Lake) -> None:
    for view, expected in lake.recomputed(*lake.queries).items():
        assert bag(lake.hw.table(view).collect()) == expected, view


def test_generated_columns(lake: Lake) -> None:
    """A column that the table computes is followed like any other."""
    from delta.tables import DeltaTable

    place = str(lake.folder / "data" / "g")
    made = DeltaTable.create(lake.spark).location(place).addColumn("k", "INT")
    made = made.addColumn("at", "TIMESTAMP")
    made = made.addColumn("day", "DATE", generatedAlwaysAs="CAST(at AS DATE)")
    made.partitionedBy("day").property("delta.enableChangeDataFeed", "true").execute()
    lake.register("g")
    lake.run("INSERT INTO {g} (k, at) VALUES (1, TIMESTAMP'2026-01-01 10:00:00')")
    lake.view("days", "SELECT day, count(*) AS n, max(at) AS last FROM g GROUP BY day")
    lake.run(
        "INSERT INTO {g} (k, at) VALUES (2, TIMESTAMP'2026-01-01 23:00:00'), (3, NULL)",
        "UPDATE {g} SET at = TIMESTAMP'2026-01-02 00:00:00' WHERE k = 1",
    )
    assert lake.refresh()["days"].technique in INCREMENTAL
    _assert_shown(lake)


def test_without_ansi(lake: Lake) -> None:
    """What raises an error under ANSI is a NULL without it, in the build and in every refresh."""
    lake.spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        lake.source("t", "k INT, w STRING, v INT", [(1, "7", 0), (2, "x", 3)])
        lake.view("shares", "SELECT k, 12 / v AS share, CAST(w AS INT) AS n FROM t")
        lake.view("totals", "SELECT k % 2 AS odd, sum(CAST(w AS INT)) AS s FROM t GROUP BY 1")
        lake.insert("t", (3, "y", 0), (4, "9", 2))
        receipts = lake.refresh()
        assert {r.technique for r in receipts.values()} <= INCREMENTAL
        lake.assert_right()
    finally:
        lake.spark.conf.unset("spark.sql.ansi.enabled")


def test_where_names_differ_in_case_only(lake: Lake) -> None:
    """Under `spark.sql.caseSensitive` our parser does not read for Spark: the view is rebuilt."""
    lake.spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        lake.source("t", "k INT, v INT", [(1, 10), (2, 20)])
        lake.view("upper", "SELECT K, v FROM (SELECT k AS K, v AS k, v FROM t)")
        lake.insert("t", (3, 30))
        assert lake.refresh()["upper"].technique is Technique.REBUILD
        lake.assert_right()
    finally:
        lake.spark.conf.unset("spark.sql.caseSensitive")


FAILING = {
    "overflow": ("SELECT k, CAST(v * 1000 AS TINYINT) AS small FROM t", "OVERFLOW", (9, 1)),
    "many_rows": (
        "SELECT k, (SELECT b.v FROM t AS b WHERE b.k = a.k) AS v FROM t AS a",
        "SCALAR_SUBQUERY_TOO_MANY_ROWS",
        (1, 0),
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_an_error_of_an_expression_fails_the_refresh(lake: Lake, name: str) -> None:
    """S27: as Spark would; content and frontier stay, and the next good change heals it."""
    query, code, row = FAILING[name]
    lake.source("t", "k INT, v INT", [(1, 0), (2, 0)])
    lake.view("v", query)
    before, read = lake.content("v"), lake.read("v")
    lake.insert("t", row)
    with pytest.raises(HeadwaterError, match=code):
        lake.hw.refresh("v")
    assert (lake.content("v"), lake.read("v")) == (before, read)
    lake.change("t", delete=f"k = {row[0]}")
    lake.insert("t", (5, 0))
    lake.refresh("v")
    lake.assert_right()
