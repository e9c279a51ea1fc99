"""`python -m benchmarks matrix`: measure what is missing, show all, write the page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.matrix.changes import CHANGES, THOUSAND, Change
from benchmarks.matrix.contenders import SHOWN
from benchmarks.matrix.measuring import Measuring, Pace, Wanted
from benchmarks.matrix.page import write
from benchmarks.matrix.results import Store, revision
from benchmarks.matrix.shapes import SHAPES, Shape
from benchmarks.matrix.targets import Results, targets
from benchmarks.matrix.terminal import table, verdicts

RESULTS = Path(__file__).resolve().parents[1] / "results" / "matrix.jsonl"
PARTIAL = RESULTS.with_name("matrix-partial.jsonl")
SMALL, LARGE, QUICK = 1_000_000, 20_000_000, 100_000
_SCALE = 1.0
"""Of TPC-H, in what is shown."""


@dataclass(frozen=True)
class Scope:
    """What one run is about: rows of the matrix by size."""

    small: int
    wanted: Wanted
    large: int = 0
    wanted_large: Wanted = ()

    def keys(self) -> set[tuple[int, str, str]]:
        here = {(self.small, shape.name, change.name) for shape, change in self.wanted}
        return here | {(self.large, shape.name, change.name) for shape, change in self.wanted_large}


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser("python -m benchmarks matrix", description=__doc__)
    options.add_argument(
        "--rows", type=int, help=f"rows of the fact tables; {SMALL:,} and {LARGE:,}"
    )
    options.add_argument("--large", type=int, default=LARGE, help="the larger size; 0 for none")
    options.add_argument("--only", default="", help="shapes and changes, separated by commas")
    options.add_argument(
        "--ways", default="", help="contenders, by commas; kept apart from the rest"
    )
    options.add_argument("--quick", action="store_true", help="a few rows at a small size")
    options.add_argument("--fresh", action="store_true", help="forget what this code measured")
    options.add_argument("--report", action="store_true", help="measure nothing, write the page")
    options.add_argument("--folder", help="where to work; a temporary folder if not given")
    options.add_argument("--history", type=int, help="untimed rounds; 0: none at all")
    options.add_argument("--rounds", type=int, help="timed rounds of a row, at most")
    chosen = options.parse_args(arguments)
    scope = scope_of(chosen)
    ways = {way.strip() for way in chosen.ways.split(",") if way.strip()}
    if ways - set(SHOWN):
        raise SystemExit(f"known are {', '.join(SHOWN)}")
    store = Store(PARTIAL if ways else RESULTS, revision())
    console = Console()
    if chosen.fresh:
        store.clear()
    if not chosen.report:
        measuring = Measuring(store, console, chosen.folder, pace_of(chosen, frozenset(ways)))
        measuring.run(scope.large, scope.wanted_large, large=True)
        measuring.run(scope.small, scope.wanted)
    _show(store, scope, console)
    if chosen.report or not (chosen.quick or chosen.only or chosen.rows):
        console.print(f"written: {_write(store, scope)}")
    return 0


def scope_of(chosen: argparse.Namespace) -> Scope:
    """Everything, or what was asked for."""
    if chosen.quick and not chosen.only:
        return Scope(chosen.rows or QUICK, _product(*picked(_QUICK_ROWS)))
    wanted = _product(*picked(chosen.only))
    if chosen.only or chosen.rows:
        return Scope(chosen.rows or SMALL, wanted)
    return Scope(SMALL, wanted, chosen.large, _LARGE_ROWS if chosen.large else ())


def pace_of(chosen: argparse.Namespace, ways: frozenset[str]) -> Pace:
    """As usual, or in a hurry, or as asked for."""
    usual = Pace()
    history = usual.history if chosen.history is None else chosen.history
    return Pace(history, chosen.rounds or usual.rounds, usual.warm_up, ways)


def picked(only: str) -> tuple[list[Shape], list[Change]]:
    """The named shapes and changes; where none of a kind is named, all."""
    names = {name.strip().replace("-", "_") for name in only.split(",") if name.strip()}
    known = {each.name for each in (*SHAPES, *CHANGES)}
    if names - known:
        raise SystemExit(
            f"no row {', '.join(sorted(names - known))}; known: {', '.join(sorted(known))}"
        )
    shapes = [s for s in SHAPES if s.name in names] or list(SHAPES)
    changes = [c for c in CHANGES if c.name in names] or [c for c in CHANGES if c is not THOUSAND]
    return shapes, changes


def _product(shapes: Sequence[Shape], changes: Sequence[Change]) -> Wanted:
    return [(shape, change) for shape in shapes for change in changes]


_QUICK_ROWS = "filter,group_by,star,left_join,append10,1c,20s"
_LARGE_ROWS = [
    *_product(*picked("filter,group_by,star,append10,1000c,0.1c")),
    *_product(*picked("warehouse,1c")),
]
"""What the targets name."""


def _results(store: Store, scope: Scope) -> Results:
    keys = scope.keys()
    rows = [row for key, row in store.rows().items() if key in keys]
    idle, memory, queries = (list(store.values(kind)) for kind in ("idle", "memory", "queries"))
    queries = [value for value in queries if value["scale"] == _SCALE]
    missing = len(keys) - len(rows)
    return Results(rows, scope.small, scope.large, idle, memory, missing, queries)


def _show(store: Store, scope: Scope, console: Console) -> None:
    results = _results(store, scope)
    for size in sorted({row.rows for row in results.rows}):
        here = [row for row in results.rows if row.rows == size]
        console.print(table(here, f"{size:,} rows, seconds"))
    console.print(verdicts(targets(results), "targets"))
    for value in store.values("check"):
        if not value["equal"]:
            console.print(f"[red]{value['shape']} by {value['contender']} was wrong[/red]")


def _write(store: Store, scope: Scope) -> Path:
    about = {}
    for value in store.values("machine"):
        about = value
    checks = {(c["rows"], c["shape"], c["contender"]): c for c in store.values("check")}
    return write(_results(store, scope), about, checks.values())
