"""What is to be reached, and whether the measured rows reach it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.matrix.contenders import AUTO, BY_HAND, FORCED, REBUILD, RECOMPUTE
from benchmarks.matrix.results import Row

VERDICTS = {True: "reached", False: "not reached", None: "not measured"}
_SAME_CHANGE = 1000
_NEAR = 0.02
_MOST = 1.10


@dataclass(frozen=True)
class Results:
    """All that targets are about."""

    rows: Sequence[Row]
    small: int
    large: int
    idle: Sequence[Mapping[str, Any]] = ()
    memory: Sequence[Mapping[str, Any]] = ()
    missing: int = 0  # rows that were wanted and not measured yet
    queries: Sequence[Mapping[str, Any]] = ()  # runs of TPC-H's

    def row(self, size: int, shape: str, change: str) -> Row | None:
        return next((r for r in self.rows if r.key == (size, shape, change)), None)


@dataclass(frozen=True)
class Target:
    """`reached` is None where what it needs was not measured."""

    words: str
    reached: bool | None
    found: str
    misses: tuple[str, ...] = field(default=())


def targets(results: Results) -> list[Target]:
    """All of them, in the order of the wish."""
    return [make(results) for make in _TARGETS]


def ratio(row: Row | None, over: str) -> float | None:
    """Auto's seconds over another contender's."""
    if row is None:
        return None
    mine, other = row.seconds(AUTO), row.seconds(over)
    return mine / other if mine is not None and other else None


def best_forced(row: Row) -> float | None:
    """The seconds of the quickest single technique."""
    return min((s for way in FORCED if (s := row.seconds(way)) is not None), default=None)


def _best_ratio(row: Row) -> float | None:
    mine, best = row.seconds(AUTO), best_forced(row)
    return mine / best if mine is not None and best else None


def _label(row: Row) -> str:
    return f"{row.shape} {row.change} at {row.rows:,}"


# --- over all rows ------------------------------------------------------------------------------


def _within(
    words: str, rows: Iterable[Row], of: Callable[[Row], float | None], most: float, share: float
) -> Target:
    """At least `share` of the rows have a ratio of at most `most`."""
    found = [(value, row) for row in rows if (value := of(row)) is not None]
    if not found:
        return Target(words, None, "not measured")
    over = sorted(((v, r) for v, r in found if v > most), key=lambda pair: -pair[0])
    good = len(found) - len(over)
    worst = f", the worst {over[0][0]:.2f}x" if over else ""
    misses = tuple(f"{_label(row)}: {value:.2f}x" for value, row in over)
    text = f"{good} of {len(found)} rows{worst}"
    return Target(words, good >= share * len(found), text, misses)


def _never_slower(results: Results) -> Target:
    words = "auto takes at most 1.10x of recomputing, on every row"
    return _within(words, results.rows, lambda row: ratio(row, RECOMPUTE), _MOST, 1.0)


def _best_technique(results: Results) -> Target:
    words = "auto takes at most 1.10x of the best forced technique, in nine rows of ten"
    return _within(words, results.rows, _best_ratio, _MOST, 0.9)


def _beats_merge(results: Results) -> Target:
    words = "auto takes at most 1.0x of the MERGE written by hand, on every row"
    return _within(words, results.rows, lambda row: ratio(row, BY_HAND), 1.0, 1.0)


# --- single rows --------------------------------------------------------------------------------


def _faster(shape: str, change: str, least: float, words: str) -> Callable[[Results], Target]:
    def make(results: Results) -> Target:
        found = ratio(results.row(results.large, shape, change), RECOMPUTE)
        if found is None:
            return Target(words, None, "not measured")
        return Target(words, 1 / found >= least, f"{1 / found:.1f}x faster")

    return make


def _grows(shape: str, title: str) -> Callable[[Results], Target]:
    words = f"{title}: 1,000 changed rows take less than 1.5x on the larger size"

    def make(results: Results) -> Target:
        before = [
            row
            for row in results.rows
            if (row.rows, row.shape) == (results.small, shape)
            and row.change.endswith("c")
            and abs(row.changed - _SAME_CHANGE) <= _NEAR * _SAME_CHANGE
        ]
        after = results.row(results.large, shape, "1000c")
        seconds = before[0].seconds(AUTO) if before else None
        later = after.seconds(AUTO) if after else None
        if not seconds or later is None:
            return Target(words, None, "not measured")
        text = f"{later / seconds:.2f}x ({seconds:.2f} s, then {later:.2f} s)"
        return Target(words, later / seconds < 1.5, text)

    return make


def _graph(words: str, *, large: bool, most: float) -> Callable[[Results], Target]:
    def make(results: Results) -> Target:
        size = results.large if large else results.small
        rows = [results.row(size, "warehouse", change) for change in ("1c", "1s")]
        found = [value for row in rows if (value := ratio(row, RECOMPUTE)) is not None]
        if not found:
            return Target(words, None, "not measured")
        return Target(words, max(found) <= most, " and ".join(f"{value:.2f}x" for value in found))

    return make


def _idle(results: Results) -> Target:
    words = "with no change, all 49 views take less than 0.3 s and no Spark job"
    found = [value for value in results.idle if value["shape"] == "warehouse"]
    if not found:
        return Target(words, None, "not measured")
    seconds, jobs = max(v["seconds"] for v in found), max(v["jobs"] for v in found)
    return Target(words, seconds < 0.3 and jobs == 0, f"{seconds:.3f} s, {jobs} jobs")


def _memory(results: Results) -> Target:
    words = "the driver's memory does not grow over 200 refreshes"
    if not results.memory:
        return Target(words, None, "not measured")
    last = results.memory[-1]
    text = (
        f"JVM heap {last['heap_before']:.0f} to {last['heap_after']:.0f} MB, "
        f"Python {last['python_before']:.0f} to {last['python_after']:.0f} MB"
    )
    grown = (
        last["heap_after"] - last["heap_before"],
        last["python_after"] - last["python_before"],
    )
    return Target(words, max(grown) <= last["flat"], text)


def _followed(results: Results) -> Target:
    words = "all of TPC-H's queries are followed incrementally, and equal after every batch"
    if not results.queries:
        return Target(words, None, "not measured")
    last = results.queries[-1]
    good = [q for q in last["queries"] if q["incrementally_by"] != REBUILD]
    text = f"{len(good)} of {len(last['queries'])} at scale {last['scale']:g}"
    return Target(words, len(good) == len(last["queries"]), text)


def _queries_never_slower(results: Results) -> Target:
    words = "auto takes at most 1.10x of recomputing, on each of TPC-H's queries"
    if not results.queries:
        return Target(words, None, "not measured")
    found = results.queries[-1]["queries"]
    over = {q["query"]: q["auto"] / q["recompute"] for q in found}
    misses = [(name, value) for name, value in over.items() if value > _MOST]
    text = f"{len(found) - len(misses)} of {len(found)}, the worst {max(over.values()):.2f}x"
    told = tuple(f"{name}: {value:.2f}x" for name, value in misses)
    return Target(words, not misses, text, told)


_TARGETS: tuple[Callable[[Results], Target], ...] = (
    _never_slower,
    _best_technique,
    _faster("star", "0.1c", 10, "join + aggregate, 0.1 % clustered, larger size: at least 10x"),
    _faster("group_by", "0.1c", 4, "group-by, 0.1 % clustered, larger size: at least 4x"),
    _faster("filter", "append10", 20, "10 rows appended to a filter view, larger size: 20x"),
    _grows("group_by", "group-by"),
    _grows("star", "clustered star join"),
    _graph("warehouse at 1 %, larger size: at most 0.4x of recomputing", large=True, most=0.4),
    _graph("warehouse at 1 %, smaller size: at most 1.0x", large=False, most=1.0),
    _idle,
    _beats_merge,
    _memory,
    _followed,
    _queries_never_slower,
)
