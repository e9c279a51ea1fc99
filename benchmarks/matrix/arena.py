"""One size: the tables, all contenders, and the rounds they run side by side."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.figures import median_seconds
from benchmarks.matrix.by_hand import ByHand
from benchmarks.matrix.changes import FIRST, Change, Tide, Window
from benchmarks.matrix.contenders import (
    APPEND,
    AUTO,
    FORCED,
    PIPELINES,
    RECOMPUTE,
    Contender,
    Kept,
    NotSound,
    Recomputed,
    forget,
)
from benchmarks.matrix.equal import Digest, digest
from benchmarks.matrix.pipelines import Pipelines
from benchmarks.matrix.results import Row
from benchmarks.matrix.runs import Measured, short, timing_of
from benchmarks.matrix.shapes import Shape
from benchmarks.matrix.tables import Lake, Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Say = Callable[[str], None]
_AT_ONCE = 4


class Arena:
    """Contenders over the same tables. Each has its own copies of the views."""

    def __init__(
        self,
        folder: Path,
        tables: tuple[Table, ...],
        rows: int,
        say: Say,
        ways: Collection[str] = (),
    ) -> None:
        """`ways` limits who takes part."""
        self.rows = rows
        self._ways = ways
        self._say = say
        self._folder = folder
        self._lake = Lake(folder / "lake", tables, rows)
        self._tide = Tide(self._lake)
        self.auto = Kept(folder / AUTO, self._lake)
        self._kept = {AUTO: self.auto}
        self.spark: SparkSession = self.auto.hw.spark.newSession()
        self._taking_part: dict[str, list[Contender]] = {}
        self._turns = 0
        self._recomputed_now = False
        started = time.perf_counter()
        self._lake.make(self.spark)
        self._lake.register(self.spark)
        say(f"tables for {rows:,} rows made in {time.perf_counter() - started:.0f} s")
        at_once = self.auto.hw.workspace.config.refresh_parallel
        self._recomputed = Recomputed(folder / "recomputed", self.spark, at_once)
        self._pipelines = Pipelines(folder / PIPELINES, self._lake, self.spark)
        self._plain: list[Contender] = [
            self._recomputed,
            ByHand(folder / "by_hand", self._lake, self.spark),
        ]

    def enter(self, wanted: Sequence[Shape], *, large: bool = False) -> list[Shape]:
        """Build the views once per contender; what is sound shows under a first change.

        On a large size nothing is forced, and another engine takes part.
        """
        shapes = [shape for shape in wanted if self._enters(self.auto, shape)]
        self._tide.turn(self.spark, FIRST)
        for shape in shapes:
            started = time.perf_counter()
            sound = set() if large else self.auto.sound(shape)
            sound &= set(self._ways or sound)
            others = [*self._plain, *(self._forced(way) for way in FORCED if way in sound)]
            others += [self._pipelines] if large else []
            invited = [c for c in others if not self._ways or c.name in self._ways]
            entered = [self.auto, *(c for c in invited if self._enters(c, shape))]
            self._taking_part[shape.name] = entered
            self._measure(self.auto, shape, {})
            names = ", ".join(contender.name for contender in entered)
            self._say(f"{shape.title}: built in {time.perf_counter() - started:.0f} s for {names}")
        return shapes

    def _forced(self, way: str) -> Kept:
        if way not in self._kept:
            self._kept[way] = Kept(self._folder / way, self._lake, way)
        return self._kept[way]

    def _enters(self, contender: Contender, shape: Shape) -> bool:
        try:
            return contender.build(shape)
        except Exception as error:  # noqa: BLE001  (one that fails is not the end of the others)
            self._say(f"{shape.title}: {contender.name} could not be built: {short(error)}")
            return False

    def play(
        self,
        change: Change,
        shapes: Sequence[Shape],
        rounds: int,
        told: Callable[[Row], None],
        *,
        warm_up: bool = True,
        once: Collection[str] = (),
    ) -> None:
        """An untimed round, then timed ones; the order of contenders turns with every round.

        Contenders of `once` run in the first timed round only, the other engine after the last:
        its process would be in the others' way.
        """
        found: dict[str, dict[str, list[Measured]]] = {shape.name: {} for shape in shapes}
        if change.appends:
            self._catch_up(shapes)
        changed = 0
        if warm_up:
            self.round(change, shapes, without={RECOMPUTE})
        for number in range(rounds):
            changed = self.round(
                change,
                shapes,
                lambda shape, who, run: found[shape].setdefault(who, []).append(run),
                without=once if number else (),
            )
        for shape in shapes:
            if change.name == shape.named and self._pipelines in self._taking_part[shape.name]:
                run = self._measure(self._pipelines, shape, {})
                found[shape.name][PIPELINES] = [run] if run else []
            timings = {name: timing_of(runs) for name, runs in found[shape.name].items()}
            told(Row(self.rows, shape.name, change.name, changed, timings))

    def round(
        self,
        change: Change,
        shapes: Sequence[Shape],
        told: Callable[[str, str, Measured], None] = lambda *_: None,
        *,
        without: Collection[str] = (),
    ) -> int:
        """One change of the sources, followed by the contenders; how many rows it changed.

        Who recomputes everything may be left out.
        """
        window, changed = self._tide.turn(self.spark, change)
        self._turns += 1
        self._recomputed_now = RECOMPUTE not in without
        for shape in shapes:
            for contender in self._in_turn(shape):
                if contender.name in without or (contender.name == APPEND and not change.appends):
                    continue
                measured = self._measure(contender, shape, window)
                if measured is not None:
                    told(shape.name, contender.name, measured)
        return changed

    def _catch_up(self, shapes: Sequence[Shape]) -> None:
        """Who only ever appends does not follow other changes; now its turn comes."""
        for shape in shapes:
            if self._kept.get(APPEND) in self._taking_part[shape.name]:
                self._kept[APPEND].catch_up(shape)

    def _in_turn(self, shape: Shape) -> list[Contender]:
        entered = [c for c in self._taking_part[shape.name] if c is not self._pipelines]
        start = self._turns % len(entered)
        return [*entered[start:], *entered[:start]]

    def _measure(self, contender: Contender, shape: Shape, window: Window) -> Measured | None:
        """None where this technique does not apply."""
        forget(self.spark, self._lake)
        started = time.perf_counter()
        try:
            told = contender.follow(shape, window)
        except NotSound:
            return None
        except Exception as error:  # noqa: BLE001  (a row with its error, not the end of the run)
            self._recomputed_now &= contender is not self._recomputed
            return Measured(time.perf_counter() - started, error=short(error))
        return Measured(time.perf_counter() - started, told)

    def check(self, shape: Shape) -> Mapping[str, bool]:
        """Contender -> whether its views hold what the queries give, recomputed at the end."""
        if not self._recomputed_now or self._recomputed not in self._taking_part[shape.name]:
            self._recomputed.build(shape)
        self._catch_up([shape])
        compared = [
            contender
            for contender in self._taking_part[shape.name]
            if contender.name not in {RECOMPUTE, PIPELINES}
        ]
        expected = self._digests(self._recomputed, shape)
        return {c.name: self._digests(c, shape) == expected for c in compared}

    def _digests(self, contender: Contender, shape: Shape) -> list[Digest]:
        """Of the columns that the queries show."""
        columns = {view: self._recomputed.content(view).columns for view in shape.views}
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            views = shape.views
            return list(pool.map(lambda v: digest(contender.content(v), columns[v]), views))

    def idle(self, shape: Shape) -> tuple[float, int]:
        """Seconds and Spark jobs of a refresh of all the shape's views with nothing to do."""
        self.auto.follow(shape, {})
        scheduler = self.spark.sparkContext._jsc.sc().dagScheduler()  # noqa: SLF001
        before = scheduler.numTotalJobs()
        seconds = median_seconds(lambda: self.auto.follow(shape, {}), 5)
        return seconds, scheduler.numTotalJobs() - before

    def close(self) -> None:
        """Give the disk back; the Spark session stays for who comes next."""
        for kept in self._kept.values():
            kept.close()
        shutil.rmtree(self._folder, ignore_errors=True)
