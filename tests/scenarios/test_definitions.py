"""Definitions through the public face: errors with their place, and verbs that write nothing."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.execute.isolated import isolated
from headwater.project.planned_sql import planned_scripts
from headwater.vocabulary.errors import (
    DefinitionConflict,
    HeadwaterError,
    ProjectInvalid,
    SourceUnreadable,
)
from tests.scenarios.lake import Lake, bag

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOURCES = "CREATE SOURCE t FROM DELTA 'data/t';\nCREATE SOURCE u FROM DELTA 'data/u';\n"
VIEW = "CREATE MATERIALIZED VIEW "


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_spark: SparkSession) -> Path:
    """A project with two tables and no definitions yet."""
    place = tmp_path_factory.mktemp("project")
    (place / "views").mkdir()
    (place / "headwater.toml").write_text("")
    lake = Lake(place, small_spark)
    lake.write("t", "k STRING, v INT", [("a", 1), ("b", 2)])
    lake.write("u", "k STRING, w INT", [("a", 3)])
    lake.hw.close()
    return place


ERRORS = [
    (VIEW + "v AS SELECT k FROM ^tt", "UNKNOWN_TABLE"),
    (VIEW + "v AS SELECT ^kk FROM t", "UNKNOWN_COLUMN"),
    (VIEW + "v AS SELECT x.^k FROM t", "UNKNOWN_COLUMN"),
    (VIEW + "v AS SELECT ^k FROM t JOIN u ON t.v = u.w", "AMBIGUOUS_COLUMN"),
    (VIEW + "v AS SELECT k FROM t;\n" + VIEW + "^v AS SELECT v FROM t", "DUPLICATE_NAME"),
    (
        VIEW + "v AS SELECT k FROM t;\nCREATE HANDLER h PROCESS v;\nCREATE HANDLER ^h PROCESS v",
        "DUPLICATE_NAME",
    ),
    (
        VIEW + "v AS SELECT k FROM t;\nCREATE HANDLER h PROCESS v;\nCREATE HANDLER i PROCESS ^v",
        "VIEW_IN_TWO_HANDLERS",
    ),
    ("CREATE HANDLER h PROCESS ^nobody", "UNKNOWN_VIEW"),
    (VIEW + "^v AS SELECT k FROM w;\n" + VIEW + "w AS SELECT k FROM v", "CYCLE"),
    (VIEW + "^`sys$v` AS SELECT k FROM t", "RESERVED_NAME"),
    ("CREATE SOURCE p FROM JDBC 'jdbc:x' TABLE 'y'", "MISSING_KEY"),
    (VIEW + "v COMPUTE ONCE (n) KEY (k) AS ^SELECT k, max(v) n FROM t GROUP BY k", "ONCE_SHAPE"),
    (
        VIEW + "v COMPUTE ONCE (r) KEY (k) AS ^SELECT k, rand() r FROM t WHERE rand() > 0",
        "NONDETERMINISTIC",
    ),
    (VIEW + "v AS SELECT k FROM t WHER ^v > 1", "SQL_SYNTAX"),
    (VIEW + "v AS SELECT k, v AS k FROM t", "DUPLICATE_COLUMN"),
    (VIEW + "v AS SELECT k + ^DATE'2026-01-01' AS x FROM t", "SPARK_REFUSED"),
    ("CREATE SOURCE gone FROM DELTA 'data/nowhere'", "SOURCE_UNREADABLE"),
]


@pytest.mark.parametrize(("marked", "code"), ERRORS, ids=[c for _, c in ERRORS])
def test_every_definition_error_has_its_place(
    folder: Path, small_spark: SparkSession, marked: str, code: str
) -> None:
    """S57: `check` names file, line and column of every error, and `apply` refuses with it."""
    text = SOURCES + marked.replace("^", "") + ";\n"
    (folder / "views" / "all.sql").write_text(text)
    with headwater.open(folder, spark=small_spark) as hw:
        report = hw.check()
        assert not report.valid
        found = {p.code: p for p in report.errors}
        assert code in found, report.errors
        place = found[code].location
        assert place.file == "views/all.sql"
        if "^" in marked and code != "SPARK_REFUSED":
            before = SOURCES + marked[: marked.index("^")]
            line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
            assert (place.line, place.column) == (line, column)
        else:
            assert place.line >= 3
        with pytest.raises(HeadwaterError):
            hw.apply()
        assert hw.status() == []


def test_errors_of_a_phase_are_collected(folder: Path, small_spark: SparkSession) -> None:
    """S57: all errors of a phase are told at once, by position; warnings do not make it invalid."""
    text = SOURCES + f"{VIEW}v AS SELECT kk FROM t;\n{VIEW}w AS SELECT k, ww FROM u;\n"
    (folder / "views" / "all.sql").write_text(text)
    with headwater.open(folder, spark=small_spark) as hw:
        errors = hw.check().errors
        assert [(p.code, p.location.line) for p in errors] == [
            ("UNKNOWN_COLUMN", 3),
            ("UNKNOWN_COLUMN", 4),
        ]
        (folder / "views" / "all.sql").write_text(
            SOURCES + f"{VIEW}v AS SELECT k, row_number() OVER (ORDER BY v) AS r FROM t;\n"
        )
        report = hw.check()
        assert report.valid
        assert {"UNUSED_SOURCE", "REBUILD_ONLY"} & {p.code for p in report.warnings}


def test_statements_have_places_too(folder: Path, small_spark: SparkSession) -> None:
    """S57: a statement given to `hw.sql` is refused whole, with line, column and a caret."""
    with headwater.open(folder, spark=small_spark) as hw:
        before = hw.workspace.definitions
        with pytest.raises(HeadwaterError) as refused:
            hw.sql("CREATE SOURCE t FROM DELTA 'data/t';\nCREATE MATERIALIZED VIEW\n  v AS SELEC k")
        assert ":3:" in str(refused.value)
        assert "^" in str(refused.value)
        hw.workspace.reload()
        assert hw.workspace.definitions == before
        with pytest.raises(DefinitionConflict, match="twice"):
            hw.sql(
                "CREATE SOURCE t FROM DELTA 'data/t';"
                "CREATE MATERIALIZED VIEW v AS SELECT k, k FROM t"
            )
        assert hw.status() == []
        hw.sql("DROP SOURCE t")


def test_check_and_plan_write_nothing(folder: Path, small_spark: SparkSession) -> None:
    """S58: check, plan, explain and the planned SQL leave folder and ledger as they were."""
    text = SOURCES + f"{VIEW}sums AS SELECT k, sum(v) AS s FROM t GROUP BY k;\n"
    (folder / "views" / "all.sql").write_text(text)
    with headwater.open(folder, spark=small_spark) as hw:
        before = snapshot(folder)
        assert hw.check().valid
        assert [(a.verb.value, a.name) for a in hw.plan()] == [
            ("create", "t"),
            ("create", "u"),
            ("create", "sums"),
        ]
        assert planned_scripts(hw.workspace)
        assert snapshot(folder) == before
        hw.apply()
        built = snapshot(folder)
        assert built != before
        assert hw.plan() == []
        assert hw.check().valid
        hw.explain("sums")
        assert planned_scripts(hw.workspace)
        assert snapshot(folder) == built


def test_a_source_that_is_not_there_is_named(folder: Path, small_spark: SparkSession) -> None:
    """S57: what `hw.sql` says of a source that cannot be read names the place it looked at."""
    with headwater.open(folder, spark=small_spark) as hw:
        with pytest.raises(SourceUnreadable, match=f"{folder}/data/nowhere"):
            hw.sql("CREATE SOURCE gone FROM DELTA 'data/nowhere'")
        assert "gone" not in hw.workspace.definitions.sources


def test_statements_of_another_application(folder: Path, small_spark: SparkSession) -> None:
    """S57: the ledger's statements define; a row that goes takes along what it defined."""
    (folder / "views" / "all.sql").write_text(SOURCES)
    with headwater.open(folder, spark=small_spark) as hw:
        statements = hw.workspace.ledger.statements
        statements.put(7, f"{VIEW}told AS SELECT k FROM t")
        hw.apply()
        assert [s.view for s in hw.status() if s.view == "told"] == ["told"]
        statements.put(8, "REFRESH MATERIALIZED VIEW told")
        (misplaced,) = hw.check().errors
        assert (misplaced.code, misplaced.location.file) == ("MISPLACED_STATEMENT", "<statement 8>")
        statements.remove(8)
        statements.remove(7)
        assert ("drop", "told") in [(a.verb.value, a.name) for a in hw.plan()]
        hw.apply()
        assert hw.status() == []
        assert not (folder / "warehouse" / "told").exists()


def test_found_again_definitions_know_their_file(folder: Path, small_spark: SparkSession) -> None:
    """S28: a lost ledger is made again with the places at which views were written."""
    text = SOURCES + f"\n{VIEW}found AS SELECT k FROM t;\n"
    (folder / "views" / "all.sql").write_text(text)
    with headwater.open(folder, spark=small_spark) as hw:
        hw.apply()
    shutil.rmtree(folder / ".headwater")
    with headwater.open(folder, spark=small_spark) as hw:
        place = hw.workspace.definitions.views["found"].location
        assert (place.file, place.line, place.column) == ("views/all.sql", 4, 1)
        assert [a.name for a in hw.plan() if a.name == "found"] == []
        (folder / "views" / "all.sql").write_text(SOURCES)
        assert ("drop", "found") in [(a.verb.value, a.name) for a in hw.plan()]
        hw.apply()


def test_planned_sql_runs(folder: Path, small_spark: SparkSession, tmp_path: Path) -> None:
    """S58: the SQL that `plan --sql` prints builds, and later refreshes, the very same views."""
    text = (
        SOURCES
        + f"{VIEW}sums POLICY INCREMENTAL AS SELECT k, sum(v) AS s FROM t GROUP BY k;\n"
        + f"{VIEW}flat POLICY INCREMENTAL AS SELECT t.k, v, w FROM t JOIN u ON t.k = u.k;\n"
        + f"{VIEW}lefts POLICY INCREMENTAL AS SELECT t.k, w FROM t LEFT JOIN u ON t.k = u.k;\n"
        + f"{VIEW}top AS SELECT s, count(*) AS n FROM sums GROUP BY s;\n"
    )
    (folder / "views" / "all.sql").write_text(text)
    with headwater.open(folder, spark=small_spark) as hw:
        built = carried_out(hw, folder, tmp_path / "build")
        hw.apply()
        for view, rows in built.items():
            assert bag(hw.table(view).collect()) == rows, view
        place = f"delta.`{folder}/data/t`"
        small_spark.sql(f"INSERT INTO {place} VALUES ('a', 5), ('c', NULL)")
        small_spark.sql(f"UPDATE {place} SET v = 9 WHERE k = 'b'")
        refreshed = carried_out(hw, folder, tmp_path / "refresh", but={"top"})
        hw.refresh_all()
        for view, rows in refreshed.items():
            assert bag(hw.table(view).collect()) == rows, view


def carried_out(
    hw: headwater.Headwater,
    folder: Path,
    scratch: Path,
    but: frozenset[str] | set[str] = frozenset(),
) -> dict[str, object]:
    """Run the planned statements on a copy of the project; the views they lead to."""
    shutil.copytree(folder, scratch)
    found: dict[str, object] = {}
    for script in planned_scripts(hw.workspace):
        if script.view in but:
            continue
        session = isolated(hw.workspace.spark)
        for statement in script.statements:
            session.sql(statement.replace(str(folder), str(scratch)))
        frame = session.read.format("delta").load(str(scratch / "warehouse" / script.view))
        shown = [c for c in frame.columns if not c.startswith("__hw_")]
        found[script.view] = bag(frame.select(*shown).collect())
    assert found
    return found


def snapshot(folder: Path) -> dict[str, object]:
    """Every file's bytes, and every row of the ledger."""
    state = folder / ".headwater"
    files: dict[str, object] = {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and state not in path.parents
    }
    with closing(sqlite3.connect(state / "ledger.db")) as ledger:
        files["ledger"] = tuple(ledger.iterdump())
    return files


def test_apply_refuses_an_invalid_project(folder: Path, small_spark: SparkSession) -> None:
    """S57: with an error anywhere, apply changes nothing at all."""
    (folder / "views" / "all.sql").write_text(
        SOURCES + f"{VIEW}good AS SELECT k FROM t;\n{VIEW}bad AS SELECT k FROM nowhere;\n"
    )
    with headwater.open(folder, spark=small_spark) as hw:
        before = hw.workspace.definitions
        with pytest.raises(ProjectInvalid, match=r"views/all.sql:4:"):
            hw.apply()
        hw.workspace.reload()
        assert hw.workspace.definitions == before
