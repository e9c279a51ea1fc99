"""A run: what this code has not measured yet, told and kept row by row."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.matrix.arena import Arena
from benchmarks.matrix.changes import Change
from benchmarks.matrix.results import Row, Store
from benchmarks.matrix.shapes import Shape
from benchmarks.matrix.terminal import line

_HISTORY = 3
"""Rounds before anything is timed: code gets compiled, and `auto` learns what its choices cost."""

Waiting = Mapping[Change, Sequence[Shape]]


class Measuring:
    """Fills a store."""

    def __init__(self, store: Store, console: Console, folder: str | None = None) -> None:
        self._store = store
        self._console = console
        self._folder = folder
        self._began = time.perf_counter()
        self._left = 0

    def run(self, rows: int, shapes: Sequence[Shape], changes: Sequence[Change]) -> None:
        """All rows that are missing at one size."""
        done = self._store.rows()
        waiting = {
            change: [s for s in shapes if (rows, s.name, change.name) not in done]
            for change in changes
        }
        entering = [s for s in shapes if any(s in each for each in waiting.values())]
        if not entering:
            return
        self._left += sum(map(len, waiting.values()))
        folder = Path(tempfile.mkdtemp(prefix="headwater-matrix-", dir=self._folder))
        arena = Arena(folder, entering[0].tables, rows, self.say)
        try:
            self._play(arena, entering, waiting)
        finally:
            arena.close()

    def _play(self, arena: Arena, entering: Sequence[Shape], waiting: Waiting) -> None:
        for shape in entering:
            arena.enter(shape)
        changes = [change for change, shapes in waiting.items() if shapes]
        for number in range(_HISTORY):
            arena.round(changes[number % len(changes)], entering)
        self.say(f"{_HISTORY} rounds of history")
        for change in changes:
            arena.play(change, waiting[change], self._keep)
        for shape in entering:
            self._check(arena, shape)

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
