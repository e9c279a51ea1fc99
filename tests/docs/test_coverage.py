"""The coverage matrix is what runs have shown, and what the planner and Spark say now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from docs import constructs, coverage, generate, trials
from headwater.testing.oracle import Mismatch, Trial
from headwater.vocabulary.reasons import REASONS
from headwater.vocabulary.technique import Technique

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WORDS = {coverage.OPEN, coverage.INSERTS, coverage.NOT_COMPARED, coverage.NO_SOURCE}


def _judged() -> dict[str, coverage.Covered]:
    return {name: coverage.covered(name, found) for name, found in trials.stored().items()}


def _words(cell: str) -> set[str]:
    """The codes of a cell, or its word without the number of runs."""
    return {part.partition(" (")[0].partition(":")[0].strip("`") for part in cell.split(", ")}


def test_every_construct_has_been_run() -> None:
    """The stored results are of the queries that there are, no more and no fewer."""
    stored = trials.stored()
    assert list(stored) == list(constructs.CONSTRUCTS), "run `python -m docs.coverage`"
    marks = {name: trials.mark_of(sql) for name, sql in constructs.CONSTRUCTS.items()}
    changed = [name for name, mark in marks.items() if stored[name]["query"] != mark]
    assert changed == [], "run `python -m docs.coverage --only NAME`"


def test_what_is_open_has_been_run() -> None:
    """No technique that the planner opens is without a run that gave Spark's own rows."""
    rows = {name: found.row for name, found in _judged().items()}
    untested = [name for name, row in rows.items() if any(coverage.UNTESTED in c for c in row)]
    assert untested == [], "run `python -m docs.coverage --only NAME`"


@pytest.mark.parametrize("technique", ["merge", "rekey", "rebuild"])
def test_without_a_run_there_is_no_yes(technique: str) -> None:
    """Nor where sources only gained rows, if that is not all the page says."""
    name = "aggregate: sum count avg"
    found = trials.stored()[name]
    for changes in ([], [trials.GAINED]):
        held = {**found["held"], technique: changes}
        assert coverage.UNTESTED in coverage.covered(name, {**found, "held": held}).row


def test_what_cannot_be_compared_is_not_called_right() -> None:
    """Two runs of such a query differ."""
    judged = _judged()
    assert {judged[name].rebuild for name in constructs.UNCOMPARED} == {coverage.NOT_COMPARED}
    rows = [cell for name in constructs.UNCOMPARED for cell in judged[name].row]
    assert not any(cell.startswith(coverage.OPEN) for cell in rows)


def test_a_difference_names_construct_and_technique() -> None:
    """Nothing is stored of a construct of which one technique gave other rows."""
    wrong = Mismatch(Technique.MERGE, ({"k": 1},), ())
    runs = [
        Trial(Technique.MERGE, "sound", 1, (), (wrong,)),
        Trial(Technique.REBUILD, "sound", 1, (), ()),
    ]

    class Broken(trials.Trials):
        def __init__(self) -> None:
            self._oracle = type("Oracle", (), {"trials": lambda *_, **__: runs})()

        def said(self, name: str) -> dict[str, Any]:
            return {}

    name = "aggregate: sum count avg"
    kept: list[object] = []
    failures = coverage.run(
        Broken().of, [name], lambda found, without: kept.append((found, without))
    )
    assert kept == [({}, failures)]
    assert f"{name}: merge is wrong under `rst`" in failures[name]


def test_the_coverage_page_is_up_to_date() -> None:
    """docs/coverage.md is what `make docs` would write now."""
    written = (generate.HERE / "coverage.md").read_text("utf-8")
    assert written == coverage.coverage_page(), "run `make docs`"


def test_every_code_of_the_matrix_is_a_reason() -> None:
    """A reader can look up every code, and every construct has a row."""
    found = [each for each in _judged().values() if each.kept != "refused"]
    cells = [cell for each in found for cell in (*each.cells, each.parts) if cell]
    codes = {word for cell in cells for word in _words(cell)} - _WORDS
    assert len(codes) > 10
    assert codes - set(REASONS) == set()


def test_every_tpch_query_is_kept_without_a_rebuild() -> None:
    """22 of 22: all queries of TPC-H have an incremental technique, whatever changes."""
    kept = {n: each.kept for n, each in _judged().items() if n.startswith(constructs.OF_TPCH)}
    assert len(kept) == 22
    assert {name for name, how in kept.items() if how == "rebuild"} == set()


@pytest.mark.parametrize(
    ("ddl", "columns"),
    [
        ("a int", (("a", "int"),)),
        (
            "a decimal(10,2), b struct<c:int,d:string>",
            (("a", "decimal(10,2)"), ("b", "struct<c:int,d:string>")),
        ),
    ],
)
def test_columns_of_a_table(ddl: str, columns: tuple[tuple[str, str], ...]) -> None:
    """Commas inside a type do not end a column."""
    assert constructs.columns_of(ddl) == columns


def test_spark_still_says_the_same(spark: SparkSession) -> None:
    """Spark's types are the stored ones; asking for every fourth construct tells."""
    asking, stored = trials.Trials(spark), trials.stored()
    names = list(constructs.CONSTRUCTS)[::4]
    differing = [name for name in names if asking.said(name) != stored[name]["said"]]
    assert differing == [], "run `python -m docs.coverage`"


def test_runs_still_give_the_same(spark: SparkSession) -> None:
    """A few constructs, run again, as far as need be to show every open technique once."""
    asking, stored = trials.Trials(spark), trials.stored()
    names = [name for name in constructs.CONSTRUCTS if not name.startswith(constructs.OF_TPCH)]
    for name in names[::80]:
        held = asking.of(name, coverage.is_enough)["held"]
        before = stored[name]["held"]
        lost = [t for t, changes in held.items() if not set(changes) <= set(before.get(t, ()))]
        assert lost == [], "run `python -m docs.coverage`"
