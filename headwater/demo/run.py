"""The demo on one page: make a shop, build its views, change it, refresh, compare, verify."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import headwater
from headwater.define.graph import levels
from headwater.define.kind import Kind
from headwater.demo.data import Sizes, make_tables
from headwater.demo.project import make_folder
from headwater.demo.recompute import Recompute
from headwater.demo.rounds import ROUNDS, Round
from headwater.demo.story import Began, Built, Changed, Event, Made, Refreshed, Story, Verified
from headwater.project.applying import apply

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.api import Headwater
    from headwater.workspace.workspace import Observer

Told = Callable[[Event], None]


def run_demo(
    folder: Path,
    rows: int,
    told: Told,
    *,
    rounds: tuple[Round, ...] = ROUNDS,
    spark: SparkSession | None = None,
    observer: Observer = lambda _step: None,
    progress: Callable[[str], None] | None = None,
) -> Story:
    """Everything in order; each event is told as it happens and kept in the story."""
    started = time.perf_counter()
    story = Story(str(folder))

    def tell(event: Event) -> None:
        story.events.append(event)
        told(event)

    make_folder(folder)
    with headwater.open(folder, spark=spark, observer=observer, progress=progress) as hw:
        shop = Shop(hw, folder.absolute() / "data", Sizes(rows), tell, observer)
        shop.make()
        shop.build()
        with Recompute(hw) as recompute:
            for number, each in enumerate(rounds, 1):
                shop.change(number, each)
                shop.refresh(number, each, recompute)
        shop.verify(len(rounds))
    story.seconds = time.perf_counter() - started
    return story


@dataclass(frozen=True)
class Shop:
    """The project and its tables; every method tells what it did."""

    hw: Headwater
    data: Path
    sizes: Sizes
    tell: Told
    note: Observer  # told what takes a while

    @property
    def views(self) -> list[str]:
        """Each view after those it reads."""
        definitions = self.hw.workspace.definitions
        return [view for level in levels(definitions, definitions.views) for view in level]

    def make(self) -> None:
        spark = self.hw.workspace.spark
        self.note("making tables")
        started = time.perf_counter()
        made = make_tables(spark, self.data, self.sizes)
        self.tell(Made(made, time.perf_counter() - started))

    def build(self) -> None:
        for action in self.hw.plan():
            apply(self.hw.workspace, [action], lambda _action: None)
            if action.kind is Kind.VIEW:
                newest = self.hw.history(action.name, limit=1)[0]
                if newest.receipt is not None:
                    self.tell(Built(newest.receipt))

    def change(self, number: int, each: Round) -> None:
        statements = each.statements(self.sizes, lambda name: f"delta.`{self.data / name}`")
        self.note(each.title)
        started = time.perf_counter()
        for statement in statements:
            self.hw.workspace.spark.sql(statement)
        self.tell(Began(number, each.title, statements, time.perf_counter() - started))

    def refresh(self, number: int, each: Round, recompute: Recompute) -> None:
        """One view after the other, so that none shares the machine while its time is taken."""
        for view in self.views:
            receipt = self.hw.refresh(view, only=True)
            self.note(f"recomputing {view}")
            again = recompute.measured(view) if each.changes_views else None
            self.tell(Refreshed(number, receipt, again))

    def verify(self, rounds: int) -> None:
        self.tell(Changed(rounds))
        for view in self.views:
            self.note(f"verifying {view}")
            self.tell(Verified(view, self.hw.verify(view).equal))
