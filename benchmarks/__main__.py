"""`python -m benchmarks [--quick] [--only NAME]`: every table, printed and kept as JSON.

`python -m benchmarks matrix` is the last and largest group alone, with options of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from benchmarks import memory
from benchmarks.control import control_plane
from benchmarks.figures import Figure
from benchmarks.following import follow_changes
from benchmarks.idle import idle_command, idle_in_process
from benchmarks.matrix.command import RESULTS as MATRIX_RESULTS
from benchmarks.matrix.command import main as matrix
from benchmarks.matrix.results import Store, revision
from benchmarks.small import small_change
from benchmarks.tpch import tpch_views
from benchmarks.tpch_queries import tpch_queries

Benchmark = Callable[..., list[Figure]]
RESULTS = Path(__file__).with_name("results")


_GROUPS: dict[str, list[Benchmark]] = {
    "idle": [
        lambda root, *_: idle_in_process(root / "idle"),
        lambda root, *_: idle_command(root / "idle"),
    ],
    "control": [
        lambda root, _, quick: control_plane(root / "control", quick=quick),
        lambda root, _, quick: follow_changes(root / "following", quick=quick),
    ],
    "small": [lambda root, *_: small_change(root / "small")],
    "tpch": [lambda root, scale, _: tpch_views(root / "tpch", scale)],
    "queries": [lambda root, scale, _: tpch_queries(root / "queries", scale)],
    "memory": [lambda root, *_: _memory(root / "memory")],
}
"""What is measured, in the order in which it is."""

_LONG = {"queries", "memory"}
_MATRIX = "matrix"


def main() -> int:
    if sys.argv[1:2] == [_MATRIX]:
        return matrix(sys.argv[2:])
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="smaller data, a minute or two")
    options.add_argument("--scale", type=float, default=None, help="TPC-H scale factor")
    options.add_argument("--only", choices=_GROUPS, help="one group of figures")
    chosen = options.parse_args()
    scale = chosen.scale or (0.1 if chosen.quick else 1.0)
    console = Console()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as folder:
        for group in _wanted(chosen.only, quick=chosen.quick):
            for benchmark in _GROUPS[group]:
                found = benchmark(Path(folder), scale, chosen.quick)
                figures += found
                console.print(_table(found))
    held = psutil.Process().memory_info().rss / 2**20
    figures.append(Figure("memory", "the Python process at the end", held, "MB"))
    console.print(_table(figures[-1:]))
    console.print(f"kept in {_keep(figures, quick=chosen.quick)}")
    if chosen.only is None:
        matrix(["--quick"] if chosen.quick else [])
    return 1 if any(figure.missed for figure in figures) else 0


def _memory(folder: Path) -> list[Figure]:
    """Kept for the matrix's targets too."""
    value = memory.measured(folder)
    Store(MATRIX_RESULTS, revision()).add({"kind": "memory", **value})
    return memory.figures(value)


def _wanted(only: str | None, *, quick: bool) -> list[str]:
    """All groups, or the one asked for; in a hurry not those that take long at any size."""
    return [only] if only else [group for group in _GROUPS if not (quick and group in _LONG)]


def _table(figures: list[Figure]) -> Table:
    table = Table(title=figures[0].group)
    for heading in ("what", "value", "target", ""):
        table.add_column(heading)
    for figure in figures:
        target = f"<= {figure.target:g} {figure.unit}" if figure.target is not None else ""
        verdict = "" if figure.target is None else "missed" if figure.missed else "ok"
        table.add_row(figure.name, f"{figure.value:.3g} {figure.unit}", target, verdict)
    return table


def _keep(figures: list[Figure], *, quick: bool) -> Path:
    RESULTS.mkdir(exist_ok=True)
    now = datetime.now(UTC)
    path = RESULTS / f"{now:%Y%m%dT%H%M%S}.json"
    machine = {"cores": os.cpu_count(), "platform": platform.platform(), "quick": quick}
    value = {"at": now.isoformat(), "machine": machine, "figures": [f.to_json() for f in figures]}
    path.write_text(json.dumps(value, indent=2) + "\n")
    return path


if __name__ == "__main__":
    raise SystemExit(main())
