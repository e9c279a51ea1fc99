"""What people are shown, without a terminal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest

from headwater.answers.status import ViewStatus
from headwater.answers.verify import Verification
from headwater.cli import figures
from headwater.cli.blocks import Table, plain, table
from headwater.cli.output import TextOutput, one_screen
from headwater.cli.terminal import print_blocks
from headwater.cli.text.attempts import history_table
from headwater.cli.text.profiles import profile_lines
from headwater.cli.text.receipts import (
    failure_lines,
    reason_lines,
    receipt_line,
)
from headwater.cli.text.rows import rows_table
from headwater.cli.text.statuses import status_table
from headwater.cli.text.verifications import verification_blocks
from headwater.store.attempt_record import AttemptRecord
from headwater.vocabulary.errors import SparkFailed
from headwater.vocabulary.frontier import Frontier, SourceVersion
from headwater.vocabulary.profile import StepCost, Work
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.receipt import AttemptState, Receipt
from headwater.vocabulary.technique import Technique

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
_YES = True
FRONTIER = Frontier.of({"orders": SourceVersion("t", 4)})


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def receipt(technique: Technique, **values: object) -> Receipt:
    given = {
        "attempt": "a1",
        "view": "revenue",
        "technique": technique,
        "frontier": FRONTIER,
        "frontier_before": FRONTIER,
        "sequence": 2,
        "table_version": 3,
        "rows_inserted": 1200,
        "rows_deleted": 3,
        "started_at": NOW,
        "seconds": 0.25,
        **values,
    }
    return Receipt(**given)  # type: ignore[arg-type]


def test_a_plain_table_is_aligned_and_has_no_frame() -> None:
    """Columns line up in a pipe, numbers to the right, and no line ends in blanks."""
    shown = plain(table("name rows", [("a", "1"), ("longer", "1,000")], right="rows"))
    assert shown == "name     rows\na           1\nlonger  1,000"


def test_a_table_without_rows_says_so() -> None:
    """An empty table is a sentence, not a bare line of headers."""
    assert plain(table("name", [], empty="nothing here")) == "nothing here"


def test_a_cell_stays_on_its_line_in_a_pipe() -> None:
    """A value with a line break does not tear a plain table apart."""
    assert len(plain(Table(("a",), (("x\ny",),))).split("\n")) == 2


def test_a_receipt_line_tells_technique_time_and_rows() -> None:
    """The line of a refresh names all that a reader asks first."""
    assert receipt_line(receipt(Technique.MERGE)) == "revenue  merge     250 ms  +1,200 -3 rows"


def test_a_skip_tells_why_instead_of_rows() -> None:
    """Where nothing was done the reason stands in place of the rows."""
    skipped = receipt(Technique.SKIP, reasons=(Reason("NO_CHANGE", "no source has a new version"),))
    assert receipt_line(skipped).endswith("no source has a new version")


def test_a_rebuild_gives_its_reasons() -> None:
    """A rebuild is never silent about why it was not incremental."""
    reasons = (Reason("GLOBAL_WINDOW", "every row depends on all"),)
    assert reason_lines(receipt(Technique.REBUILD, reasons=reasons)) == [
        "  why: GLOBAL_WINDOW: every row depends on all"
    ]
    assert reason_lines(receipt(Technique.MERGE, reasons=reasons)) == []


def test_a_profile_is_a_tree_of_steps() -> None:
    """Each part has its time, its rows and work where there are any, below what it is part of."""
    read = StepCost("changes_orders", 0.1, 1, Work(1, 2, 7, 2048))
    execute = StepCost("execute", 0.2, None, Work(), (read, StepCost("unaccounted", 0.0004)))
    commit = StepCost("commit", 1.5, 3, Work(2, 3, 0, 0, 12_600_000, 10))
    costs = (execute, commit, StepCost("unaccounted", 0.0))
    assert profile_lines(receipt(Technique.MERGE, profile=costs)) == [
        "  ├─ execute             200 ms",
        "  │  └─ changes_orders   100 ms  1 row, 1 job, 2 tasks, read 2.0 kB of 7 rows",
        "  ├─ commit              1.50 s  3 rows, 2 jobs, 3 tasks, shuffled 10 B, wrote 13 MB",
        "  └─ unaccounted           0 ms",
        "     in all: 3 jobs, 5 tasks, read 2.0 kB of 7 rows, shuffled 10 B, wrote 13 MB",
    ]


def test_a_refresh_without_spark_has_a_profile_too() -> None:
    """A skip that only looked at logs shows its parts and no work."""
    costs = (StepCost("capture", 0.004), StepCost("unaccounted", 0.001))
    assert profile_lines(receipt(Technique.SKIP, profile=costs)) == [
        "  ├─ capture         4 ms",
        "  └─ unaccounted     1 ms",
    ]
    assert profile_lines(receipt(Technique.SKIP)) == ["  └─ no step ran"]


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (54_321, "54 kB"), (2 * 10**16, "20,000 TB")],
)
def test_sizes_are_short(count: int, shown: str) -> None:
    """Bytes are told in the largest unit that fits."""
    assert figures.size(count) == shown


def test_a_cause_is_told_once() -> None:
    """Views that were not tried name the view that failed, not its error again."""
    error = SparkFailed("disk full")
    lines = failure_lines({"base": error, "top": error})
    assert lines[0].startswith("base: [SPARK_FAILED] disk full")
    assert lines[1] == "top: not tried, because base failed"


@pytest.mark.parametrize(
    ("behind", "shown"),
    [({"orders": 0}, "up to date"), ({"orders": 3}, "orders +3"), ({"orders": None}, "orders +?")],
)
def test_status_tells_how_far_behind(behind: dict[str, int | None], shown: str) -> None:
    """A view is up to date, behind by so many commits, or its source cannot be read."""
    status = ViewStatus(
        "v", "ready", "auto", FRONTIER, behind, "merge", NOW - timedelta(hours=2), None, None
    )
    text = plain(status_table([status], NOW))
    assert shown in text
    assert "2 h ago" in text


def test_history_shows_the_error_in_one_line() -> None:
    """A failure's message is cut to a line."""
    record = AttemptRecord(
        "a1", "v", "v", _YES, AttemptState.FAILED, None, NOW, NOW, NOW, None, None, None, None,
        None, None, FRONTIER, None, (), (), {}, 1.0, {"code": "SPARK_FAILED", "what": "x\n" * 200},
        None, None,
    )  # fmt: skip
    text = plain(history_table([record]))
    assert "SPARK_FAILED" in text
    assert len(text.split("\n")) == 2


def test_verification_shows_examples_by_class() -> None:
    """Wrong rows are shown under the class they belong to, NULL as NULL."""
    found = Verification(
        "v", FRONTIER, not _YES, 1, 0, 0, {"missing": ({"k": None, "n": 2},), "extra": ()}
    )
    summary, examples = verification_blocks([found])
    assert "DIFFERENT" in plain(summary)
    assert plain(examples) == "v: missing rows (up to 20)\nk     n\nNULL  2"


def test_rows_are_cut_to_a_screen() -> None:
    """A very long value does not flood the screen."""
    assert len(plain(rows_table(["a"], [["x" * 500]], ""))) < 100


def test_messages_fit_one_screen() -> None:
    """An error of many lines is cut, and says where the rest is."""
    cut = one_screen(["a\n" * 300])
    assert len(cut) == 40
    assert "more lines" in cut[-1]


def test_figures_read_naturally() -> None:
    """Times and counts have the unit a reader would choose."""
    assert [figures.seconds(s) for s in (0.0042, 1.234, 83.0)] == ["4 ms", "1.23 s", "83.0 s"]
    assert figures.ago(None, NOW) == "never"
    assert figures.ago(NOW, NOW) == "now"
    assert figures.counted(1, "view") == "1 view"


def test_no_escape_codes_off_the_terminal() -> None:
    """Text for a file or pipe holds no colours and no cursor moves."""
    out, err = StringIO(), StringIO()
    output = TextOutput(out, err)
    with output.busy("working"):
        output.progress("starting Spark")
        output.step("plan")
        output.show(None, lambda: [table("state", [("failed",)])])
    assert "\x1b" not in out.getvalue() + err.getvalue()
    assert err.getvalue() == "starting Spark\n"


def test_user_text_is_never_markup() -> None:
    """Square brackets in data are printed as they are."""
    screen = Terminal()
    print_blocks([table("code", [("[bold]x[/bold]",)])], screen)
    assert "[bold]x[/bold]" in screen.getvalue()
