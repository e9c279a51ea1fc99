"""`docs/benchmarks.md`, its picture and its JSON, from what was measured and from nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.matrix.changes import CHANGES
from benchmarks.matrix.contenders import AUTO, RECOMPUTE, SHOWN
from benchmarks.matrix.plot import plot
from benchmarks.matrix.results import Row, Timing
from benchmarks.matrix.shapes import SHAPES, Shape
from benchmarks.matrix.targets import VERDICTS, Results, Target, best_forced, targets

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
PICTURE = "benchmarks.svg"
_MOST_MISSES = 12
_SHAPES = {shape.name: shape.title for shape in SHAPES}
_CHANGES = {change.name: change.title for change in CHANGES}

_BATCHES = (
    "One order of a thousand comes and one goes, with their lines, and some costs change. The "
    "first such batch is followed under POLICY INCREMENTAL, the second under AUTO; all views equal "
    "their queries after each."
)

_METHOD = Path(__file__).with_name("method.md")


def write(results: Results, about: Mapping[str, Any], checks: Iterable[Mapping[str, Any]]) -> Path:
    """The page, its picture, and the same figures for programs."""
    compared = [dict(check) for check in checks]
    told = {"machine": dict(about), "idle": results.idle, "memory": results.memory}
    told |= {
        "queries": results.queries,
        "checks": compared,
        "rows": [row.to_json() for row in results.rows],
    }
    PAGE.with_suffix(".json").write_text(json.dumps(told, indent=1) + "\n")
    PAGE.with_name(PICTURE).write_text(plot(results.rows, _SHAPES, _CHANGES))
    PAGE.write_text(page(results, about, compared))
    return PAGE


def page(results: Results, about: Mapping[str, Any], checks: Sequence[Mapping[str, Any]]) -> str:
    """The whole text."""
    parts = [
        "# Benchmarks",
        "Written by `make bench` from what it measured; not by hand.",
        _machine(about),
        _unfinished(results),
        "## Targets",
        _targets(targets(results)),
        f"![Seconds of a refresh over those of recomputing]({PICTURE})",
        f"The same for programs: [{PAGE.stem}.json]({PAGE.stem}.json).",
        *(_size(results.rows, size) for size in sorted({row.rows for row in results.rows})),
        _checks(checks),
        _queries(results.queries),
        _METHOD.read_text().strip(),
        _views(),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _machine(about: Mapping[str, Any]) -> str:
    if not about:
        return ""
    return (
        f"Measured on {about['at']}: {about['cores']} cores ({about['processor']}), "
        f"{about['memory_gib']} GiB of memory, a driver of {about['heap']}, {about['system']}, "
        f"Python {about['python']}, Java {about['java']}, pyspark {about['pyspark']}, "
        f"delta-spark {about['delta']}. Code `{about['code']}`."
    )


def _unfinished(results: Results) -> str:
    if not results.missing:
        return ""
    measured = len(results.rows)
    return (
        f"**Unfinished**: {measured} of {measured + results.missing} rows are measured. "
        "A verdict on every row is one on these alone."
    )


def _targets(found: Sequence[Target]) -> str:
    lines = ["| target | measured | |", "|---|---|---|"]
    lines += [f"| {t.words} | {t.found} | {VERDICTS[t.reached]} |" for t in found]
    for target in found:
        if target.misses:
            lines += ["", f"Beyond “{target.words}”: {_some(target.misses)}."]
    return "\n".join(lines)


def _some(misses: Sequence[str]) -> str:
    shown = "; ".join(misses[:_MOST_MISSES])
    more = len(misses) - _MOST_MISSES
    return f"{shown}; and {more} more" if more > 0 else shown


def _size(rows: Sequence[Row], size: int) -> str:
    here = {row.key: row for row in rows if row.rows == size}
    ways = [way for way in SHOWN if any(way in row.contenders for row in here.values())]
    heads = ["view", "change", *ways, "auto by", "of recompute", "of the best forced"]
    lines = [f"## {size:,} rows, seconds", "", _cells(heads), "|" + "---|" * len(heads)]
    for shape, title in _SHAPES.items():
        for change, words in _CHANGES.items():
            row = here.get((size, shape, change))
            if row is not None:
                lines.append(_cells([title, words, *_figures(row, ways)]))
    return "\n".join(lines)


def _figures(row: Row, ways: Sequence[str]) -> list[str]:
    auto = row.contenders.get(AUTO, Timing())
    shown = [_seconds(row.contenders.get(way)) for way in ways]
    over = [_ratio(auto.median, row.seconds(RECOMPUTE)), _ratio(auto.median, best_forced(row))]
    return [*shown, auto.technique, *over]


def _cells(values: Iterable[str]) -> str:
    return "| " + " | ".join(values) + " |"


def _seconds(timing: Timing | None) -> str:
    if timing is None:
        return ""
    if timing.median is None:
        return f"failed: {timing.error}".replace("|", "/") if timing.error else ""
    return f"{timing.median:.2f}"


def _ratio(value: float | None, base: float | None) -> str:
    return f"{value / base:.2f}x" if value is not None and base else ""


def _checks(checks: Sequence[Mapping[str, Any]]) -> str:
    if not checks:
        return ""
    wrong = [f"{c['shape']} by {c['contender']} at {c['rows']:,}" for c in checks if not c["equal"]]
    found = f"wrong: {', '.join(wrong)}" if wrong else "all equal"
    return f"Results compared with the query's own at the end: {len(checks)}, {found}."


def _queries(runs: Sequence[Mapping[str, Any]]) -> str:
    if not runs:
        return ""
    last = runs[-1]
    heads = ["query", "incrementally", "by", "auto", "by", "recompute", "auto of recompute"]
    lines = [
        f"## TPC-H at scale {last['scale']:g}, seconds",
        "",
        _BATCHES,
        "",
        _cells(heads),
        "|" + "---|" * len(heads),
    ]
    for found in last["queries"]:
        followed = [f"{found['incrementally']:.2f}", found["incrementally_by"]]
        auto = [f"{found['auto']:.2f}", found["auto_by"], f"{found['recompute']:.2f}"]
        over = _ratio(found["auto"], found["recompute"])
        lines.append(_cells([found["query"], *followed, *auto, over]))
    return "\n".join(lines)


def _views() -> str:
    return "\n\n".join(["## The views", *(f"**{s.title}**{_listed(s)}" for s in SHAPES)])


def _listed(shape: Shape) -> str:
    if shape.is_costly:
        return (
            ": staging, dimensions, facts, sums and reports of a broker, see "
            "[benchmarks/matrix/warehouse_views.py](../benchmarks/matrix/warehouse_views.py)."
        )
    return "\n\n```sql\n" + ";\n".join(shape.views.values()) + "\n```"
