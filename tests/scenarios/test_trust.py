"""Who may say what a view holds: tampering, views that are not ready, a lost ledger."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from headwater.vocabulary.errors import (
    CommitFailed,
    VerifyFailed,
    ViewNotReady,
    ViewTampered,
    WrongUse,
)
from headwater.vocabulary.receipt import AttemptState
from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import Lake, codes


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    shared_lake.source("t", "k STRING, v INT", [("a", 1), ("b", 2), ("c", 3), ("d", 4)])
    shared_lake.view("sums", "SELECT k, sum(v) AS s FROM t GROUP BY k")
    shared_lake.view("halves", "SELECT k, v FROM t WHERE v % 2 = 0")
    shared_lake.view("top", "SELECT max(s) AS m FROM sums")
    return shared_lake


def test_verify_finds_tampering(lake: Lake) -> None:
    """S28: rows taken away, put in and altered by hand are found by class; refresh stands back."""
    assert lake.hw.verify("sums").equal
    lake.run(
        "DELETE FROM {sums} WHERE k = 'a'",
        "UPDATE {sums} SET s = 1000 WHERE k = 'b'",
        "INSERT INTO {sums} SELECT * EXCEPT (k), 'x' AS k FROM {sums} WHERE k = 'c'"
        if lake.hw.spark.read.format("delta").load(lake.path("sums")).columns[0] != "k"
        else "INSERT INTO {sums} SELECT 'x' AS k, * EXCEPT (k) FROM {sums} WHERE k = 'c'",
    )
    found = lake.hw.verify("sums")
    assert not found.equal
    assert (found.missing, found.extra, found.different) == (1, 1, 1)
    assert [row["k"] for row in found.rows["missing"]] == ["a"]
    assert [row["k"] for row in found.rows["extra"]] == ["x"]
    assert [(row["expected s"], row["found s"]) for row in found.rows["different"]] == [(2, 1000)]
    assert lake.hw.verify("sums", where="k = 'd'").equal

    version = lake.version("sums")
    lake.insert("t", ("e", 5))
    for view in ("sums", "top"):
        with pytest.raises(ViewTampered, match="sums"):
            lake.hw.refresh(view)
    assert lake.version("sums") == version
    assert lake.hw.refresh("sums", full=True).technique is Technique.REBUILD
    lake.assert_right("sums")
    lake.insert("t", ("e", 1))
    lake.refresh()
    lake.assert_right()


def test_verify_says_why_it_cannot(lake: Lake) -> None:
    """S28: a wrong condition and a source that cannot be read are told in our own words."""
    with pytest.raises(WrongUse, match="no_such"):
        lake.hw.verify("sums", where="no_such = 1")
    place = Path(lake.path("t"))
    place.rename(place.with_name("away"))
    try:
        with pytest.raises(VerifyFailed, match="sums could not be recomputed"):
            lake.hw.verify("sums")
    finally:
        place.with_name("away").rename(place)
    assert lake.hw.verify("sums").equal


def test_optimize_is_no_change(lake: Lake) -> None:
    """S28: OPTIMIZE of a source or of the view's table is neither a change nor tampering."""
    lake.refresh()
    lake.insert("t", ("o", 2))
    lake.refresh()
    kept = {view: lake.content(view) for view in lake.queries}
    lake.run("OPTIMIZE {t}", "OPTIMIZE {halves}")
    assert lake.commits("t")[-1]["operation"] == "OPTIMIZE"
    assert lake.commits("halves")[-1]["operation"] == "OPTIMIZE"
    receipts = lake.refresh()
    assert {r.technique for r in receipts.values()} == {Technique.SKIP}
    assert {view: lake.content(view) for view in lake.queries} == kept
    lake.change("t", delete="k = 'o'")
    lake.refresh()
    lake.assert_right()


def test_not_ready_is_refused(lake: Lake) -> None:
    """S29: a view whose build failed can be neither read nor refreshed; built, it can."""
    lake.insert("t", ("zero", 0))
    with pytest.raises(CommitFailed, match="DIVIDE_BY_ZERO"):
        lake.hw.sql("CREATE MATERIALIZED VIEW shares AS SELECT k, 100 / v AS share FROM t")
    assert next(s for s in lake.hw.status() if s.view == "shares").state == "deferred"
    for use in (lake.hw.table, lake.hw.refresh, lake.hw.verify, lake.hw.changes):
        with pytest.raises(ViewNotReady, match="shares"):
            use("shares")
    assert not lake.hw.spark.catalog.tableExists("shares")

    lake.change("t", delete="v = 0")
    query = "SELECT k, 100 / v AS share FROM t"
    lake.hw.sql(f"CREATE OR REPLACE MATERIALIZED VIEW shares AS {query}")
    lake.queries["shares"] = query
    lake.refresh()
    lake.assert_right("shares")


def test_failed_redefinition_keeps_the_live_version(lake: Lake) -> None:
    """S29: while a redefinition cannot be built the old table stands as it was."""
    lake.refresh("halves")
    version = lake.version("halves")
    lake.insert("t", ("zero", 0))
    before = lake.content("halves")
    with pytest.raises(CommitFailed, match="DIVIDE_BY_ZERO"):
        lake.hw.sql("CREATE OR REPLACE MATERIALIZED VIEW halves AS SELECT k, 1 / v AS v FROM t")
    assert lake.version("halves") == version
    assert lake.content("halves") == before
    lake.refresh("halves")
    lake.assert_right("halves")
    lake.change("t", delete="v = 0")
    query = "SELECT k, v, v * 2 AS twice FROM t WHERE v % 2 = 0"
    lake.queries["halves"] = query
    lake.hw.sql(f"CREATE OR REPLACE MATERIALIZED VIEW halves POLICY INCREMENTAL AS {query}")
    lake.assert_right("halves")
    lake.refresh()


def test_lost_ledger_is_found_again(lake: Lake) -> None:
    """S28: without its ledger a project knows its views, contents and frontiers from the commits.

    What only the ledger knew (a frontier that moved without a commit) is known again after a
    refresh that writes nothing.
    """
    lake.insert("t", ("a", 7))
    lake.insert("t", ("odd", 1))
    lake.refresh()
    frontiers = {s.view: s.frontier for s in lake.hw.status()}
    committed = {view: lake.stamp(view).frontier for view in lake.queries}
    versions = {view: lake.version(view) for view in lake.queries}
    lake.hw.close()
    shutil.rmtree(lake.folder / ".headwater")
    lake.hw = lake.open()
    found = {s.view: s.frontier for s in lake.hw.status()}
    assert found == committed
    assert {d.location.file for d in lake.hw.workspace.definitions.all()} == {"<sql>"}
    lake.assert_right()
    assert {r.technique for r in lake.refresh().values()} == {Technique.SKIP}
    assert {view: lake.version(view) for view in lake.queries} == versions
    assert {s.view: s.frontier for s in lake.hw.status()} == frontiers
    lake.change("t", update={"v": "v + 1"}, where="k = 'a'")
    receipts = lake.refresh()
    assert receipts["sums"].technique in {Technique.MERGE, Technique.REKEY}
    lake.assert_right()


def test_settings_decide_results(lake: Lake) -> None:
    """S26: a session whose settings change results rebuilds the view and says so."""
    lake.source("moments", "at TIMESTAMP", [])
    lake.run("INSERT INTO {moments} VALUES (TIMESTAMP'2026-01-01 23:30:00 UTC')")
    lake.view("days", "SELECT to_date(at) AS day, count(*) AS n FROM moments GROUP BY to_date(at)")
    zone = lake.spark.conf.get("spark.sql.session.timeZone")
    lake.spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        receipt = lake.hw.refresh("days")
        assert receipt.technique is Technique.REBUILD
        assert "SETTINGS_CHANGED" in codes(receipt)
        days = [str(row.day) for row in lake.hw.table("days").collect()]
        assert days == ["2026-01-02"]
        assert lake.hw.refresh("days").technique is Technique.SKIP
    finally:
        lake.spark.conf.set("spark.sql.session.timeZone", zone)
    assert "SETTINGS_CHANGED" in codes(lake.hw.refresh("days"))
    assert [str(row.day) for row in lake.hw.table("days").collect()] == ["2026-01-01"]


def test_hidden_columns_stay_hidden(lake: Lake) -> None:
    """S25: upkeep's columns are in the table and never in what a reader by name sees."""
    stored = lake.spark.read.format("delta").load(lake.path("sums")).columns
    assert any(column.startswith("__hw_") for column in stored)
    for shown in (
        lake.hw.table("sums"),
        lake.hw.spark.sql("SELECT * FROM sums"),
        lake.hw.sql("SELECT * FROM sums"),
    ):
        assert shown.columns == ["k", "s"]
    fed = lake.hw.changes("sums").columns
    assert fed == ["k", "s", "_change_type", "_commit_version", "_commit_timestamp"]


def test_history_has_no_open_end(lake: Lake) -> None:
    """S21: after all of this no attempt is left running."""
    attempts = lake.hw.history(limit=1000)
    assert AttemptState.RUNNING not in {attempt.state for attempt in attempts}
