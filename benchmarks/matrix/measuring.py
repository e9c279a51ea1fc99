"""A run: what this code has not measured yet, told and kept row by row."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from benchmarks.matrix.arena import Arena
from benchmarks.matrix.changes import CHANGES, Change
from benchmarks.matrix.contenders import REBUILD, RECOMPUTE
from benchmarks.matrix.machine import machine
from benchmarks.matrix.results import Row, Store
from benchmarks.matrix.runs import short
from benchmarks.matrix.shapes import Shape
from benchmarks.matrix.terminal import line

_LARGE_ROUNDS = 2
_LIKE_THEIR_BUILD = {RECOMPUTE, REBUILD}
"""Who run the same code as when they were built, and have nothing to catch up on."""


Wanted = Sequence[tuple[Shape, Change]]


@dataclass(frozen=True)
class Pace:
    """How much is done for a figure.

    `history` are rounds before anything is timed: code gets compiled, and `auto` learns what its
    choices cost. `rounds` is the most that are timed, after an
    untimed one if `warm_up`.
    """

    history: int = 2
    rounds: int = 1
    warm_up: bool = False
    ways: frozenset[str] = frozenset()  # who takes part; all, if empty

    def for_large_tables(self) -> Pace:
        """There are few rows, and they are what the targets name."""
        return replace(self, rounds=max(self.rounds, _LARGE_ROUNDS), warm_up=self.history > 0)

    def for_many_views(self) -> Pace:
        """A graph of many views takes long, and has a history of many refreshes after a round."""
        return replace(self, rounds=1, warm_up=False)


class Measuring:
    """Fills a store."""

    def __init__(
        self, store: Store, console: Console, folder: str | None = None, pace: Pace | None = None
    ) -> None:
        self._store = store
        self._console = console
        self._folder = folder
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
        self._pace = pace or Pace()
        self._began = time.perf_counter()
        self._left = 0

    def run(self, rows: int, wanted: Wanted, *, large: bool = False) -> None:
        """All rows that are missing at one size, one set of tables after the other.

        On a large size no technique is forced.
        """
        done = self._store.rows()
        missing = [(s, c) for s, c in wanted if (rows, s.name, c.name) not in done]
        for tables in {id(shape.tables): shape.tables for shape, _ in missing}.values():
            folder = Path(tempfile.mkdtemp(prefix="headwater-matrix-", dir=self._folder))
            arena = Arena(folder, tables, rows, self.say, self._pace.ways)
            self._store.add({"kind": "machine", **machine(arena.spark)})
            try:
                here = [(s, c) for s, c in missing if s.tables is tables]
                self._play(arena, here, large=large)
            finally:
                arena.close()

    def _play(self, arena: Arena, wanted: Wanted, *, large: bool) -> None:
        shapes = list({shape.name: shape for shape, _ in wanted}.values())
        changes = [c for c in CHANGES if any(change is c for _, change in wanted)]
        shapes = arena.enter(shapes, large=large)
        self._left = len(shapes) * len(changes)
        costly = any(shape.is_costly for shape in shapes)
        pace = self._pace.for_large_tables() if large else self._pace
        pace = pace.for_many_views() if costly else pace
        for number in range(pace.history):
            arena.round(changes[number % len(changes)], shapes, without=_LIKE_THEIR_BUILD)
        self.say(f"{pace.history} rounds of history")
        for change in changes:
            rounds = min(change.rounds, pace.rounds)
            once = {RECOMPUTE} if large else ()
            arena.play(change, shapes, rounds, self._keep, warm_up=pace.warm_up, once=once)
        for shape in shapes:
            try:
                self._check(arena, shape)
                if shape.is_graph:
                    self._idle(arena, shape)
            except Exception as error:  # noqa: BLE001  (what was measured stays)
                self.say(f"[red]{shape.name} could not be checked: {short(error)}[/red]")

    def _idle(self, arena: Arena, shape: Shape) -> None:
        seconds, jobs = arena.idle(shape)
        about = {"rows": arena.rows, "shape": shape.name, "views": len(shape.views)}
        self._store.add({"kind": "idle", **about, "seconds": seconds, "jobs": jobs})
        self.say(f"{shape.name} without a change: {seconds:.3f} s, {jobs} Spark jobs")

    def _check(self, arena: Arena, shape: Shape) -> None:
        for name, equal in arena.check(shape).items():
            about = {"rows": arena.rows, "shape": shape.name, "contender": name}
            self._store.add({"kind": "check", **about, "equal": equal})
            if not equal:
                self.say(f"[red]{shape.name}: {name} is wrong[/red]")

    def _keep(self, row: Row) -> None:
        self._left -= 1
        self._store.add(row.to_json())
        self.say(f"{line(row)}  [dim]({self._left} to go)[/dim]")

    def say(self, text: str) -> None:
        passed = int(time.perf_counter() - self._began)
        stamp = f"[dim]{passed // 60:3}:{passed % 60:02}[/dim]"
        self._console.print(f"{stamp} {text}", highlight=False, soft_wrap=True)
