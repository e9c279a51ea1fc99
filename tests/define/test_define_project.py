"""A folder of definitions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from headwater.define.project import load_project
from headwater.vocabulary.errors import ProjectMissing
from headwater.vocabulary.location import Location


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".sql")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


GOOD = {
    "sources": "CREATE SOURCE orders FROM DELTA 'data/orders' KEY (id);\n",
    "views__a": "CREATE MATERIALIZED VIEW big AS SELECT * FROM orders WHERE x > 1;",
    "views__b": "CREATE OR REPLACE MATERIALIZED VIEW n AS SELECT count(*) AS n FROM big;",
    "handlers": "CREATE HANDLER h PROCESS big, n",
}


def test_a_project_is_all_its_sql_files(tmp_path: Path) -> None:
    """Files in sub-folders count; every definition knows its file by the name below the folder."""
    project = load_project(write(tmp_path, **GOOD))
    assert project.problems == ()
    assert project.report.valid
    assert list(project.definitions.views) == ["big", "n"]
    assert list(project.definitions.handlers) == ["h"]
    assert project.definitions.views["n"].location == Location("views/b.sql", 1, 1)
    assert sorted(project.texts) == ["handlers.sql", "sources.sql", "views/a.sql", "views/b.sql"]


def test_hidden_folders_the_warehouse_and_tables_define_nothing(tmp_path: Path) -> None:
    """Only places for definitions are searched."""
    write(tmp_path, **GOOD)
    bad = "CREATE NONSENSE;"
    write(tmp_path, **{".git__x": bad, "warehouse__x": bad, "data__orders___delta_log__x": bad})
    write(tmp_path, **{"data__orders__x": bad, ".hidden": bad})
    (tmp_path / "readme.txt").write_text(bad)
    assert load_project(tmp_path).problems == ()
    write(tmp_path, store__x=bad)
    assert not load_project(tmp_path).report.valid
    assert load_project(tmp_path, warehouse="store").texts.keys() >= {"warehouse/x.sql"}


def test_the_structure_is_checked_only_when_all_parses(tmp_path: Path) -> None:
    """A later phase would only repeat the errors of the earlier one."""
    write(tmp_path, **{**GOOD, "sources": "CREATE SOURCE orders FROM DELTA;"})
    problems = load_project(tmp_path).problems
    assert [problem.code for problem in problems] == ["SQL_SYNTAX"]
    write(tmp_path, sources="CREATE SOURCE order FROM DELTA 'x';")
    problems = load_project(tmp_path).problems
    assert [problem.code for problem in problems] == ["UNKNOWN_TABLE", "UNUSED_SOURCE"]
    assert str(problems[0].location) == "views/a.sql:1:47"


def test_namesakes_in_two_files_are_both_known(tmp_path: Path) -> None:
    """The second one is the error, and it names the first."""
    write(tmp_path, **GOOD, z="CREATE SOURCE ORDERS FROM DELTA 'other'")
    project = load_project(tmp_path)
    (problem,) = project.problems
    assert (problem.code, str(problem.location)) == ("DUPLICATE_NAME", "z.sql:1:15")
    assert "sources.sql:1:15" in problem.message
    assert project.definitions.sources["orders"].path == "data/orders"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT 1", "`SELECT 1` is not a definition"),
        ("CREATE VIEW v AS SELECT 1", "`CREATE VIEW v` is not a definition"),
        ("DROP SOURCE orders", "DROP does something"),
        ("REFRESH MATERIALIZED VIEW big", "REFRESH does something"),
        ("ALTER MATERIALIZED VIEW big SET POLICY full", "ALTER does something"),
    ],
)
def test_a_project_file_only_defines(tmp_path: Path, text: str, message: str) -> None:
    """Statements that act, and Spark's own, are refused in files."""
    write(tmp_path, **GOOD, x=f"-- {text}\n  {text};")
    (problem,) = load_project(tmp_path).problems
    assert problem.code == "MISPLACED_STATEMENT"
    assert message in problem.message
    assert str(problem.location) == "x.sql:2:3"
    assert problem.hint


def test_files_that_are_no_text_are_told(tmp_path: Path) -> None:
    """A file that cannot be read is an error of its own; the others are still read."""
    write(tmp_path, **GOOD)
    (tmp_path / "x.sql").write_bytes(b"CREATE SOURCE \xff\xfe")
    (tmp_path / "gone.sql").symlink_to(tmp_path / "nowhere")
    problems = load_project(tmp_path).problems
    assert [(p.code, p.location.file) for p in problems] == [
        ("UNREADABLE_FILE", "gone.sql"),
        ("UNREADABLE_FILE", "x.sql"),
    ]


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    """Editors' habits do not shift positions."""
    (tmp_path / "x.sql").write_bytes(
        b"\xef\xbb\xbfCREATE SOURCE s FROM DELTA 'x';\r\n"
        b"CREATE MATERIALIZED VIEW v AS\r\nSELECT 1 FROM y"
    )
    problem = load_project(tmp_path).problems[0]
    assert (problem.code, str(problem.location)) == ("UNKNOWN_TABLE", "x.sql:3:15")


def test_no_folder_no_project(tmp_path: Path) -> None:
    """A folder that is not there is a coded error, not an empty project."""
    with pytest.raises(ProjectMissing):
        load_project(tmp_path / "nowhere")


def test_checking_writes_nothing(tmp_path: Path) -> None:
    """S58: a check leaves no file, no change and no new time stamp behind."""
    write(tmp_path, **GOOD)

    def listing() -> list[tuple[str, int, int]]:
        found = [Path(place) / name for place, _, names in os.walk(tmp_path) for name in names]
        return sorted((str(p), p.stat().st_mtime_ns, p.stat().st_size) for p in found)

    before = listing()
    load_project(tmp_path)
    assert listing() == before


def test_an_empty_project_is_valid(tmp_path: Path) -> None:
    """Nothing defined, nothing wrong."""
    assert load_project(tmp_path).report.summary == "VALID: 0 errors, 0 warnings"
