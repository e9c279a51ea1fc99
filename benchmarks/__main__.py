"""`python -m benchmarks [--quick] [--only NAMES]`: every table, printed and kept as JSON.

Everything that compares ways of keeping views takes up to an hour. In a hurry it is done with
little data, and what a small change costs at least is measured too. `python -m benchmarks matrix`
is the last and largest group alone, with options of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from benchmarks import memory, tpch_queries
from benchmarks.control import control_plane
from benchmarks.figures import Figure
from benchmarks.following import follow_changes
from benchmarks.idle import idle_command, idle_in_process
from benchmarks.matrix.command import RESULTS as MATRIX_RESULTS
from benchmarks.matrix.command import main as matrix
from benchmarks.matrix.results import Store, revision
from benchmarks.small import small_change

Benchmark = Callable[..., list[Figure]]
Shown = Callable[[Mapping[str, Any]], list[Figure]]
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
}
"""What does not depend on the size of data, in the order in which it is measured."""

_COMPARED: dict[str, tuple[Callable[[Path, float], dict[str, Any]], Shown]] = {
    "queries": (tpch_queries.measured, tpch_queries.figures),
    "memory": (lambda folder, _: memory.measured(folder), memory.figures),
}
"""What is kept with the matrix, and not measured twice by the same code."""

_MATRIX = "matrix"


def main() -> int:
    if sys.argv[1:2] == [_MATRIX]:
        return matrix(sys.argv[2:])
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="smaller data, a minute or two")
    options.add_argument("--scale", type=float, default=None, help="TPC-H scale factor")
    options.add_argument("--only", default="", help="groups of figures, by commas")
    chosen = options.parse_args()
    scale = chosen.scale or (0.1 if chosen.quick else 1.0)
    console = Console()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as folder:
        for group in _wanted(chosen.only, quick=chosen.quick):
            for found in _found(group, Path(folder), scale, chosen):
                figures += found
                console.print(_table(found))
    held = psutil.Process().memory_info().rss / 2**20
    figures.append(Figure("memory", "the Python process at the end", held, "MB"))
    console.print(_table(figures[-1:]))
    console.print(f"kept in {_keep(figures, quick=chosen.quick)}")
    if not chosen.only:
        matrix(["--quick"] if chosen.quick else [])
    return 0


def _found(
    group: str, root: Path, scale: float, chosen: argparse.Namespace
) -> Iterator[list[Figure]]:
    if group in _GROUPS:
        yield from (benchmark(root, scale, chosen.quick) for benchmark in _GROUPS[group])
        return
    measured, shown = _COMPARED[group]
    store = Store(MATRIX_RESULTS, revision())
    known = [] if chosen.only else [v for v in store.values(group) if v.get("scale") == scale]
    if not known:
        known = [{"kind": group, "scale": scale, **measured(root / group, scale)}]
        store.add(known[0])
    yield shown(known[-1])


def _wanted(only: str, *, quick: bool) -> list[str]:
    """The groups asked for; or all comparisons, or in a hurry what takes little time."""
    named = [name.strip() for name in only.split(",") if name.strip()]
    if set(named) - {*_GROUPS, *_COMPARED}:
        raise SystemExit(f"known are {', '.join((*_GROUPS, *_COMPARED))}")
    return named or list(_GROUPS if quick else _COMPARED)


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
