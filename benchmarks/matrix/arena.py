"""One size: the tables, all contenders, and the rounds they run side by side."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.matrix.by_hand import ByHand
from benchmarks.matrix.changes import Change, Tide, Window
from benchmarks.matrix.contenders import (
    AUTO,
    FORCED,
    Contender,
    Kept,
    NotSound,
    Recomputed,
    Told,
    forget,
)
from benchmarks.matrix.equal import digest
from benchmarks.matrix.results import Row, Timing
from benchmarks.matrix.shapes import Shape
from benchmarks.matrix.tables import Lake, Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Say = Callable[[str], None]
_LONGEST_ERROR = 300


@dataclass(frozen=True)
class Measured:
    """One run of one contender."""

    seconds: float
    told: Told = field(default_factory=Told)
    error: str = ""


class Arena:
    """Contenders over the same tables. Each has its own copies of the views."""

    def __init__(self, folder: Path, tables: tuple[Table, ...], rows: int, say: Say) -> None:
        self.rows = rows
        self._say = say
        self._folder = folder
        self._lake = Lake(folder / "lake", tables, rows)
        self._tide = Tide(self._lake)
        self.auto = Kept(folder / AUTO, self._lake)
        self._kept = {AUTO: self.auto}
        self.spark: SparkSession = self.auto.hw.spark.newSession()
        self._taking_part: dict[str, list[Contender]] = {}
        self._turns = 0
        started = time.perf_counter()
        self._lake.make(self.spark)
        self._lake.register(self.spark)
        say(f"tables for {rows:,} rows made in {time.perf_counter() - started:.0f} s")
        self._plain: list[Contender] = [
            Recomputed(folder / "recomputed", self.spark),
            ByHand(folder / "by_hand", self._lake, self.spark),
        ]

    def enter(self, shape: Shape, *, forced: bool = True) -> None:
        """Build a shape's views once per contender."""
        started = time.perf_counter()
        entering: list[Contender] = [self.auto, *self._plain]
        self.auto.build(shape)
        if forced and len(shape.views) == 1:
            sound = self.auto.sound(shape)
            entering += [self._forced(name) for name in FORCED if name in sound]
        self._taking_part[shape.name] = [
            c for c in entering if c is self.auto or self._enters(c, shape)
        ]
        names = ", ".join(c.name for c in self._taking_part[shape.name])
        self._say(f"{shape.title}: built in {time.perf_counter() - started:.0f} s for {names}")

    def _forced(self, technique: str) -> Kept:
        if technique not in self._kept:
            self._kept[technique] = Kept(self._folder / technique, self._lake, technique)
        return self._kept[technique]

    def _enters(self, contender: Contender, shape: Shape) -> bool:
        try:
            return contender.build(shape)
        except Exception as error:  # noqa: BLE001  (one that fails is not the end of the others)
            self._say(f"{shape.title}: {contender.name} could not be built: {_short(error)}")
            return False

    def play(self, change: Change, shapes: Sequence[Shape], told: Callable[[Row], None]) -> None:
        """An untimed round, then timed ones; the order of contenders turns with every round."""
        found: dict[str, dict[str, list[Measured]]] = {shape.name: {} for shape in shapes}
        changed = self.round(change, shapes, lambda *_: None)
        for _ in range(change.rounds):
            changed = self.round(
                change, shapes, lambda shape, who, run: found[shape].setdefault(who, []).append(run)
            )
        for shape in shapes:
            timings = {name: _timing(runs) for name, runs in found[shape.name].items()}
            told(Row(self.rows, shape.name, change.name, changed, timings))

    def round(
        self,
        change: Change,
        shapes: Sequence[Shape],
        told: Callable[[str, str, Measured], None] = lambda *_: None,
    ) -> int:
        """One change of the sources, followed by every contender; how many rows it changed."""
        window, changed = self._tide.turn(self.spark, change)
        self._turns += 1
        for shape in shapes:
            for contender in self._in_turn(shape):
                measured = self._measure(contender, shape, window)
                if measured is not None:
                    told(shape.name, contender.name, measured)
        return changed

    def _in_turn(self, shape: Shape) -> list[Contender]:
        entered = self._taking_part[shape.name]
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
            return Measured(time.perf_counter() - started, error=_short(error))
        return Measured(time.perf_counter() - started, told)

    def check(self, shape: Shape) -> Mapping[str, bool]:
        """Contender -> whether its last view is what the query gives now."""
        *_, last = shape.views
        rows = self.spark.sql(_whole(shape))
        columns = rows.columns
        expected = digest(rows, columns)
        return {
            contender.name: digest(contender.content(last), columns) == expected
            for contender in self._taking_part[shape.name]
        }

    def close(self) -> None:
        """Give the disk back; the Spark session stays for who comes next."""
        for kept in self._kept.values():
            kept.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _whole(shape: Shape) -> str:
    """The last view's query over the tables alone."""
    *above, last = shape.views
    named = ", ".join(f"{name} AS ({shape.views[name]})" for name in above)
    return f"WITH {named} {shape.views[last]}" if named else shape.views[last]


def _timing(runs: Collection[Measured]) -> Timing:
    good = [run for run in runs if not run.error]
    errors = [run.error for run in runs if run.error]
    if not good:
        return Timing(error=errors[0] if errors else "")
    last = good[-1].told
    seconds = tuple(round(run.seconds, 3) for run in good)
    return Timing(seconds, last.technique, last.forecast, errors[0] if errors else "")


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:_LONGEST_ERROR]
