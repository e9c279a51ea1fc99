"""What the matrix says of its measurements is what follows from them."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchmarks.matrix import page
from benchmarks.matrix.changes import CHANGES
from benchmarks.matrix.command import picked
from benchmarks.matrix.plot import plot
from benchmarks.matrix.results import Row, Store, Timing
from benchmarks.matrix.shapes import SHAPES
from benchmarks.matrix.targets import Results, targets

SMALL, LARGE = 1_000_000, 20_000_000
SVG = "{http://www.w3.org/2000/svg}"


def row(size: int, shape: str, change: str, **seconds: float) -> Row:
    """`auto=1.0, recompute=2.0, …`; `hand` stands for the MERGE by hand."""
    names = {"hand": "by hand"}
    timings = {names.get(who, who): Timing((took,)) for who, took in seconds.items()}
    return Row(size, shape, change, 1000, timings)


def reached(*rows: Row, idle: tuple = (), memory: tuple = ()) -> dict[str, bool | None]:
    found = targets(Results(rows, SMALL, LARGE, idle, memory))
    return {target.words: target.reached for target in found}


def verdict(words: str, *rows: Row, **more: tuple) -> bool | None:
    (found,) = [r for text, r in reached(*rows, **more).items() if words in text]
    return found


@pytest.mark.parametrize(("auto", "good"), [(1.09, True), (1.11, False)])
def test_one_slow_row_misses_the_first_target(auto: float, good: bool) -> None:
    """Never slower than recomputing means on every row."""
    fine = row(SMALL, "filter", "1c", auto=0.1, recompute=1.0)
    other = row(SMALL, "star", "1c", auto=auto, recompute=1.0)
    assert verdict("of recomputing, on every row", fine, other) is good


def test_nine_rows_of_ten_are_enough_for_the_best_technique() -> None:
    """One row of ten may be slower than the best forced technique, two may not."""
    good = [row(SMALL, "filter", c.name, auto=1.0, delta=1.0, rebuild=3.0) for c in CHANGES[:8]]
    bad = [row(SMALL, "star", c.name, auto=2.0, merge=1.0) for c in CHANGES[:2]]
    words = "best forced"
    assert verdict(words, *good, *good[:1], bad[0]) is True
    assert verdict(words, *good, *bad) is False


def test_what_was_not_measured_is_neither_reached_nor_missed() -> None:
    """An empty run has no verdicts."""
    assert set(reached().values()) == {None}


def test_speed_is_judged_on_the_larger_size_only() -> None:
    """Ten times on the smaller size says nothing."""
    words = "join + aggregate"
    assert verdict(words, row(SMALL, "star", "0.1c", auto=1, recompute=10)) is None
    assert verdict(words, row(LARGE, "star", "0.1c", auto=1, recompute=10)) is True
    assert verdict(words, row(LARGE, "star", "0.1c", auto=1, recompute=9.9)) is False


def test_growth_compares_the_same_number_of_changed_rows() -> None:
    """0.1 % of a million rows is a thousand; the larger size has a change of its own for that."""
    before = row(SMALL, "group_by", "0.1c", auto=1.0)
    words = "group-by: 1,000 changed rows"
    assert verdict(words, before, row(LARGE, "group_by", "1000c", auto=1.4)) is True
    assert verdict(words, before, row(LARGE, "group_by", "1000c", auto=1.6)) is False
    assert verdict(words, before, row(LARGE, "group_by", "0.1c", auto=1.0)) is None


def test_idleness_forbids_spark_jobs() -> None:
    """Quick is not enough."""
    words = "with no change"
    assert verdict(words, idle=({"shape": "warehouse", "seconds": 0.1, "jobs": 0},)) is True
    assert verdict(words, idle=({"shape": "warehouse", "seconds": 0.1, "jobs": 1},)) is False
    assert verdict(words, idle=({"shape": "warehouse", "seconds": 0.4, "jobs": 0},)) is False


def test_a_run_goes_on_where_the_same_code_stopped(tmp_path: Path) -> None:
    """Other code's figures are neither read nor lost."""
    old, new = (Store(tmp_path / "kept.jsonl", code) for code in ("old", "new"))
    measured = row(SMALL, "star", "1c", auto=1.0)
    old.add(measured.to_json())
    assert new.rows() == {}
    new.add(measured.to_json())
    new.add(row(SMALL, "star", "1c", auto=3.0).to_json())
    assert new.rows()[SMALL, "star", "1c"].seconds("auto") == 3.0
    new.clear()
    assert (len(new.rows()), len(old.rows())) == (0, 1)


def test_the_picture_shows_every_contender_of_every_row() -> None:
    """A dot for auto, a ring for the MERGE by hand, a line for each forced technique."""
    rows = [
        row(SMALL, "filter", "1c", auto=1.0, recompute=2.0, hand=1.5, delta=1.0, rebuild=2.5),
        row(SMALL, "star", "1c", auto=500.0, recompute=2.0),
    ]
    shapes, changes = ({each.name: each.title for each in kind} for kind in (SHAPES, CHANGES))
    drawn = ET.fromstring(plot(rows, shapes, changes))
    legend = 1
    assert len(drawn.findall(f"{SVG}circle[@class='auto']")) == 2 + legend
    assert len(drawn.findall(f"{SVG}circle[@class='hand']")) == 1 + legend
    assert len(drawn.findall(f"{SVG}line[@class='forced']")) == 2 + legend
    places = [float(c.get("cx", "nan")) for c in drawn.findall(f"{SVG}circle")]
    assert max(places) <= 900


def test_the_page_tells_failures_and_wrong_results() -> None:
    """A contender that failed is a cell of the table; a wrong one is named."""
    failed = Row(SMALL, "star", "1c", 1000, {"auto": Timing(error="SparkFailed: no | more")})
    check = {"rows": SMALL, "shape": "star", "contender": "auto", "equal": False}
    text = page.page(Results([failed], SMALL, LARGE), {}, [check])
    assert "SparkFailed: no / more" in text
    assert "wrong: star by auto" in text


def test_the_page_says_that_rows_are_missing() -> None:
    """A target reached on the rows that there are is not reached on every row."""
    fine = row(SMALL, "filter", "1c", auto=0.1, recompute=1.0)
    assert "1 of 10 rows are measured" in page.page(
        Results([fine], SMALL, LARGE, missing=9), {}, []
    )
    assert "Unfinished" not in page.page(Results([fine], SMALL, LARGE), {}, [])


def test_every_view_reads_only_what_was_defined_before() -> None:
    """So a shape's views can be made in their order; the warehouse has 49."""
    for shape in SHAPES:
        known: set[str] = set()
        for name, reads in shape.reads().items():
            assert reads <= known
            known.add(name)
    (warehouse,) = [shape for shape in SHAPES if shape.name == "warehouse"]
    assert len(warehouse.views) == 49


def test_rows_are_picked_by_shape_and_change() -> None:
    """Where only one of the two is named, all of the other are meant."""
    shapes, changes = picked("star,0.1c")
    assert [each.name for each in (*shapes, *changes)] == ["star", "0.1c"]
    assert len(picked("0.1c")[0]) == len(SHAPES)
    with pytest.raises(SystemExit, match="no row sta;"):
        picked("sta")
