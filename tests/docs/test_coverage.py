"""The coverage matrix is what the planner and Spark say now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from docs import coverage, generate
from headwater.vocabulary.reasons import REASONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_every_construct_has_been_shown_to_spark() -> None:
    """The stored compilations are of the constructs that there are, no more and no fewer."""
    assert list(coverage.stored()) == list(coverage.CONSTRUCTS), "run `python -m docs.coverage`"


def test_the_coverage_page_is_up_to_date() -> None:
    """docs/coverage.md is what `make docs` would write now."""
    written = (generate.HERE / "coverage.md").read_text("utf-8")
    assert written == coverage.coverage_page(), "run `make docs`"


def test_every_code_of_the_matrix_is_a_reason() -> None:
    """A reader can look up every code, and every construct has a row."""
    judged = [coverage.covered(name, said) for name, said in coverage.stored().items()]
    found = [each for each in judged if each.kept != "refused"]
    cells = {cell.strip("`") for each in found for cell in each.cells}
    codes = cells - {"yes", "inserts"} | {code for each in found for code in each.parts}
    assert len(codes) > 10
    assert codes - set(REASONS) == set()


def test_every_tpch_query_is_kept_without_a_rebuild() -> None:
    """22 of 22: all queries of TPC-H have an incremental technique, whatever changes."""
    kept = {
        name: coverage.covered(name, said).kept
        for name, said in coverage.stored().items()
        if name.startswith("TPC-H: ")
    }
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
    assert coverage.columns_of(ddl) == columns


def test_spark_still_says_the_same(spark: SparkSession) -> None:
    """Spark's types are the stored ones; asking for every fourth construct tells."""
    now, stored = coverage.compiled(spark, every=4), coverage.stored()
    differing = [name for name in now if now[name] != stored.get(name)]
    assert differing == [], "run `python -m docs.coverage`"
