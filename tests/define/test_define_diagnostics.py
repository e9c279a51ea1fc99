"""How problems are shown."""

from __future__ import annotations

from headwater.define.diagnostics import Problem, Report, Severity, error, render, suggest, warning
from headwater.define.positions import Positions, shifted, within
from headwater.vocabulary.location import Location


def at(line: int, column: int, file: str = "a.sql") -> Location:
    return Location(file, line, column)


def test_a_problem_shows_its_line_with_a_caret() -> None:
    """Place, code, message, the line as written, carets below the word, and what to do."""
    problem = error("UNKNOWN_TABLE", "no `ordrs`", at(2, 8), "did you mean `orders`?")
    assert render(problem, "SELECT *\n  FROM ordrs o\n") == (
        "a.sql:2:8: error UNKNOWN_TABLE: no `ordrs`\n"
        "  2 |   FROM ordrs o\n"
        "    |        ^^^^^\n"
        "  next: did you mean `orders`?"
    )


def test_the_caret_lands_below_its_word_behind_tabs_and_wide_letters() -> None:
    """A tab stays a tab and a wide letter takes two columns, as in the line above."""
    lines = render(error("X", "m", at(1, 4)), "\t名 (b\r\n").split("\n")
    assert lines[1:] == ["  1 | \t名 (b", "    | \t   ^"]


def test_a_place_behind_the_last_letter_and_a_missing_text() -> None:
    """The end of a text can be pointed at; without the text the place must do."""
    assert render(error("X", "m", at(1, 3)), "ab").split("\n")[2] == "    |   ^"
    assert render(error("X", "m", at(9, 1)), "ab") == "a.sql:9:1: error X: m"
    assert render(error("X", "m", at(1, 1)), None) == "a.sql:1:1: error X: m"


def test_a_report_has_errors_by_position_then_warnings() -> None:
    """Errors come first, each group in the order of files and lines, nothing twice."""
    problems = [
        warning("W", "w", at(1, 1)),
        error("B", "b", at(10, 1)),
        error("A", "a", at(9, 2)),
        error("A", "a", at(9, 2)),
        error("C", "c", at(1, 1, "b.sql")),
    ]
    report = Report.of(problems)
    assert [problem.code for problem in report.problems] == ["A", "B", "C", "W"]
    assert (len(report.errors), len(report.warnings), report.valid) == (3, 1, False)
    assert report.summary == "INVALID: 3 errors, 1 warning"


def test_warnings_alone_leave_definitions_valid() -> None:
    """Only errors make definitions invalid."""
    report = Report.of([warning("W", "w", at(1, 1))])
    assert report.valid
    assert report.text({"a.sql": "x"}).startswith(
        "VALID: 0 errors, 1 warning\n\na.sql:1:1: warning"
    )
    assert Report.of([]).text({}) == "VALID: 0 errors, 0 warnings"


def test_a_report_as_json() -> None:
    """Programs get the same as people."""
    found = Report.of([Problem(Severity.ERROR, "A", "a", at(3, 4), "h")]).to_json()
    assert found == {
        "valid": False,
        "errors": [
            {
                "severity": "error",
                "code": "A",
                "message": "a",
                "file": "a.sql",
                "line": 3,
                "column": 4,
                "hint": "h",
            }
        ],
        "warnings": [],
    }


def test_suggestions_ignore_case_and_keep_the_spelling() -> None:
    """The near miss is answered as it was defined; a far one not at all."""
    assert suggest("ORDRS", ["Orders", "customers"]) == "Orders"
    assert suggest("zzz", ["Orders", "customers"]) is None
    assert suggest("x", []) is None


def test_positions_count_from_one_and_from_where_a_text_begins() -> None:
    """The three ways to a position agree."""
    text, base = "ab\ncd\n\nef", Location("f", 5, 10)
    expected = {0: (5, 10), 1: (5, 11), 2: (5, 12), 3: (6, 1), 5: (6, 3), 6: (7, 1), 8: (8, 2)}
    positions = Positions.of(text, base)
    for offset, (line, column) in expected.items():
        assert positions.at(offset) == within(base, text, offset) == Location("f", line, column)
    assert shifted(base, 1, 3) == Location("f", 5, 12)
    assert shifted(base, 2, 3) == Location("f", 6, 3)
