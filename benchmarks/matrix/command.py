"""`python -m benchmarks matrix`: run what is missing, show all."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.matrix.changes import CHANGES, THOUSAND, Change
from benchmarks.matrix.measuring import Measuring
from benchmarks.matrix.results import Store, revision
from benchmarks.matrix.shapes import SHAPES, Shape
from benchmarks.matrix.terminal import table

RESULTS = Path(__file__).resolve().parents[1] / "results" / "matrix.jsonl"


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser("python -m benchmarks matrix", description=__doc__)
    options.add_argument("--rows", type=int, default=1_000_000, help="rows of the fact table")
    options.add_argument("--only", default="", help="shapes and changes, separated by commas")
    options.add_argument("--fresh", action="store_true", help="forget what this code measured")
    options.add_argument("--folder", help="where to work; a temporary folder if not given")
    chosen = options.parse_args(arguments)
    shapes, changes = picked(chosen.only)
    console = Console()
    store = Store(RESULTS, revision())
    if chosen.fresh:
        store.clear()
    Measuring(store, console, chosen.folder).run(chosen.rows, shapes, changes)
    wanted = {(chosen.rows, s.name, c.name) for s in shapes for c in changes}
    rows = [row for key, row in store.rows().items() if key in wanted]
    if rows:
        console.print(table(rows, f"{chosen.rows:,} rows, seconds"))
    return 0


def picked(only: str) -> tuple[list[Shape], list[Change]]:
    """The named shapes and changes; where none of a kind is named, all."""
    names = {name.strip() for name in only.split(",") if name.strip()}
    known = {each.name for each in (*SHAPES, *CHANGES)}
    if names - known:
        raise SystemExit(f"no row {', '.join(sorted(names - known))}; known: {', '.join(known)}")
    shapes = [s for s in SHAPES if s.name in names] or list(SHAPES)
    changes = [c for c in CHANGES if c.name in names] or [c for c in CHANGES if c is not THOUSAND]
    return shapes, changes
