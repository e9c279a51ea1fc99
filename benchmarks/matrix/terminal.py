"""The matrix in a terminal: a line as each row is done, a table at the end."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table

from benchmarks.matrix.contenders import AUTO, RECOMPUTE, SHOWN
from benchmarks.matrix.results import Row, Timing
from benchmarks.matrix.targets import VERDICTS, Target, best_forced


def line(row: Row) -> str:
    """`group_by 0.1c: auto 0.61 s by merge (0.43x), recompute 1.42, merge 0.60, rekey 0.93`."""
    auto, base = row.contenders.get(AUTO), row.seconds(RECOMPUTE)
    parts = []
    if auto is not None:
        seconds = auto.median
        ratio = f" ({seconds / base:.2f}x)" if seconds and base else ""
        parts.append(f"auto {_seconds(auto)} by {auto.technique or '?'}{ratio}")
    others = [name for name in SHOWN if name in row.contenders and name != AUTO]
    parts += [f"{name} {_seconds(row.contenders[name])}" for name in others]
    return f"{row.shape} {row.change}: {', '.join(parts)}"


def table(rows: Iterable[Row], title: str) -> Table:
    """Seconds of every contender, and auto's share of recomputing and of the best technique."""
    found = list(rows)
    shown = [name for name in SHOWN if any(name in row.contenders for row in found)]
    made = Table(title=title)
    for heading in ("view", "change", "auto by", *shown, "/recompute", "/best"):
        made.add_column(heading, justify="left" if heading in {"view", "change"} else "right")
    for row in found:
        auto = row.contenders.get(AUTO, Timing())
        made.add_row(
            row.shape,
            row.change,
            auto.technique,
            *(_seconds(row.contenders.get(name, Timing())) for name in shown),
            _ratio(auto.median, row.seconds(RECOMPUTE)),
            _ratio(auto.median, best_forced(row)),
        )
    return made


def verdicts(found: Iterable[Target], title: str) -> Table:
    """What was to be reached, and whether it is."""
    made = Table(title=title)
    for heading in ("target", "measured", ""):
        made.add_column(heading)
    for target in found:
        made.add_row(target.words, target.found, VERDICTS[target.reached])
    return made


def _seconds(timing: Timing) -> str:
    if timing.median is None:
        return "failed" if timing.error else ""
    return f"{timing.median:.2f}"


def _ratio(value: float | None, base: float | None) -> str:
    return f"{value / base:.2f}x" if value is not None and base else ""
