"""The demo: its data, its story, and the whole of it on a tiny shop."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.cli.blocks import plain
from headwater.cli.text.demo import event_line, story_blocks
from headwater.define.parse import parse
from headwater.define.project import load_project
from headwater.demo.data import Sizes, customers, order_lines, orders, products
from headwater.demo.project import free_folder, make_folder
from headwater.demo.rounds import ROUNDS
from headwater.demo.run import run_demo
from headwater.demo.story import (
    Began,
    Built,
    Changed,
    Event,
    Made,
    Recomputed,
    Refreshed,
    Story,
    Verified,
)
from headwater.vocabulary.errors import ProjectExists
from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.technique import Technique

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RECEIPT = Receipt(
    "a1", "daily_revenue", Technique.MERGE, Frontier(), Frontier(), 1, 1, 10, 10,
    datetime(2026, 5, 1, tzinfo=UTC), 0.5,
)  # fmt: skip
EVENTS: list[Event] = [
    Made({"orders": 100}, 1.0),
    Built(replace(RECEIPT, technique=Technique.REBUILD)),
    Began(1, "new orders", ("INSERT", "INSERT"), 0.4),
    Refreshed(1, RECEIPT, Recomputed(2.0, 365)),
    Refreshed(2, replace(RECEIPT, technique=Technique.SKIP, seconds=0.001), None),
    Changed(2),
    Verified("daily_revenue", is_equal=True),
]


def test_every_event_has_a_line() -> None:
    """Whatever happens in the demo is told in a line."""
    told = "\n".join(event_line(event) for event in EVENTS)
    assert "100 orders" in told
    assert "recompute  2.00 s  365 rows" in told
    assert "equal" in told


def test_the_sum_compares_like_with_like() -> None:
    """Rounds that were not recomputed count on neither side."""
    story = Story("shop", EVENTS, 9.0)
    (total,) = story.sums()
    assert (total.seconds, total.recompute_seconds) == (0.5, 2.0)
    assert (total.rows, total.recomputed_rows) == (20, 365)
    shown = [plain(block) for block in story_blocks(story)]
    assert "4.0x" in shown[1]
    assert shown[-1].count("headwater ") == 3


def test_a_demo_that_does_not_pay_says_so() -> None:
    """Where recomputing was faster the closing words admit it."""
    slow = Refreshed(1, replace(RECEIPT, seconds=5.0), Recomputed(2.0, 365))
    story = Story("shop", [slow, Verified("daily_revenue", is_equal=True)])
    assert any("commit costs more" in plain(block) for block in story_blocks(story))


def test_a_wrong_view_is_not_hidden() -> None:
    """A view that differs is said to be wrong in the closing words and in the table."""
    story = Story("shop", [Verified("daily_revenue", is_equal=False)])
    shown = "\n".join(plain(block) for block in story_blocks(story))
    assert "SOME VIEW IS WRONG" in shown
    assert "DIFFERENT" in shown


def test_the_folder_is_never_somebody_elses(tmp_path: Path) -> None:
    """The demo takes a free name, and refuses a folder in which something is."""
    assert free_folder(tmp_path).name == "headwater-demo"
    make_folder(tmp_path / "headwater-demo")
    assert free_folder(tmp_path).name == "headwater-demo-2"
    with pytest.raises(ProjectExists):
        make_folder(tmp_path / "headwater-demo")


def test_the_definitions_are_valid(tmp_path: Path) -> None:
    """Four sources and seven views that fit together."""
    make_folder(tmp_path / "demo")
    project = load_project(tmp_path / "demo")
    assert project.report.valid, project.problems
    assert len(project.definitions.sources) == 4
    assert len(project.definitions.views) == 7


def test_every_round_names_its_tables() -> None:
    """Each statement changes one of the shop's tables."""
    sizes = Sizes(40_000)
    for each in ROUNDS:
        for statement in each.statements(sizes, lambda name: f"<{name}>"):
            assert any(f"<{table}>" in statement for table in sizes.by_table())
            assert parse(statement).statements


def test_the_data_is_the_same_everywhere(spark: SparkSession) -> None:
    """Rows depend on their numbers alone, not on the run or the machine."""
    sizes = Sizes(400)
    assert rows(spark, customers(1, 1)) == [(1, "Customer 1", "IN", "home", "c1@example.org")]
    assert rows(spark, products(1, 1)) == [(1, "Product 1", "kitchen", Decimal("245.91"))]
    assert rows(spark, orders(1, 1, sizes)) == [(1, 16, date(2025, 1, 4), "shipped")]
    lines = rows(spark, order_lines(1, 1, sizes))
    assert len(lines) == 4
    assert lines[0] == (1, 1, 8, 2, Decimal("136.03"), 0.01)


def rows(spark: SparkSession, query: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in spark.sql(query).collect()]


def test_the_demo_tells_the_truth(tmp_path: Path, small_spark: SparkSession) -> None:
    """Two rounds on a tiny shop: every view is equal, and what does not matter is skipped."""
    told: list[Event] = []
    rounds = (ROUNDS[2], ROUNDS[3])
    story = run_demo(tmp_path / "demo", 2_000, told.append, rounds=rounds, spark=small_spark)
    assert story.is_equal
    assert told == story.events
    used = {(r.number, r.receipt.view): r.receipt.technique for r in story.of(Refreshed)}
    assert used[2, "daily_revenue"] is Technique.SKIP
