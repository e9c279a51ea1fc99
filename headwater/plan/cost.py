"""What a plan would cost in seconds: a model of its steps.

The model knows rows from the logs and a few rates; it is only meant to be right in proportion. What
this machine, this cluster and this view make of it is learnt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.plan.fan_out import fan_outs
from headwater.plan.firsts import Firsts
from headwater.plan.over_all import looked_at
from headwater.plan.steps import (
    Append,
    Derive,
    Patch,
    ReadChanges,
    ReadSnapshot,
    ReadView,
    RefreshPlan,
    Renew,
    Rewrite,
    Step,
    Write,
)
from headwater.plan.strategies.inputs import SourceWindow
from headwater.vocabulary.algebra import (
    Aggregate,
    Distinct,
    Join,
    Node,
    SetOperation,
    TopK,
    Window,
    walk,
)
from headwater.vocabulary.technique import Technique

_MICRO = 1e-6
_SCAN = 0.02  # microseconds per row and scan, whatever the columns
_SCAN_COLUMN = 0.015
_CHANGED = 0.6  # per changed row that is read and netted
_PATCHED = 2.0  # per row or key that is looked for in the view and told to its change feed
_WRITE = 0.16  # per row written
_REWRITE = 1.0  # per row of a file that loses some
_RENEW = 4.0  # per row of a table that is matched with touched keys and written anew
_FIND = 0.25  # per row of the view that is compared with the rows or keys to be found
_COMPARE = 1.2  # per row of either side of a difference
_JOB = 0.2  # seconds per relation that is evaluated and kept
_STAGE = 0.15  # per operator that moves rows between tasks
_COMMIT = 0.25
_FEED = 0.11
_QUERY = 0.03  # to plan and run the view's whole query, however little it reads
MARKED_ROWS = 20_000
"""A file with fewer rows is written anew rather than marked."""

MOST_DEAD = 0.2
"""A file with a larger share of dead rows is written anew."""

_SEVERAL = 1.5
"""So many partners of a row, on average, are more than one."""

_UNKNOWN_SHARE = 0.05
"""Of a source, where the log does not tell how many rows changed."""

UNKNOWN = 1e9
"""A rebuild of sources whose size the log does not tell is the last resort."""

_HEAVY = {
    Aggregate: 0.05,
    Distinct: 0.05,
    Join: 0.045,
    SetOperation: 0.1,
    TopK: 0.02,
    Window: 0.6,
}
"""Microseconds per row of the sources, when the whole query is computed."""

_CARRIED = {kind: 3.0 if kind is Window else 0.15 for kind in _HEAVY}
"""Likewise per changed row, and per row that it takes along."""

_PARTITION = 20
"""Into a window a changed row takes the rows of its partition along: so many, as nothing tells."""


_DISPLACED = 0.1
"""So many of the changed rows, as nothing tells, change which row of a partition is first."""


@dataclass(frozen=True)
class Size:
    """How big the view's own table is."""

    rows: int = 0
    files: int = 1


@dataclass(frozen=True)
class Price:
    """What a technique is expected to take; infinite where it is not sound."""

    technique: Technique
    sound: bool
    seconds: float
    model: float  # before correction


def model_seconds(
    plan: RefreshPlan,
    root: Node,
    windows: Mapping[str, SourceWindow],
    size: Size,
    firsts: Firsts | None = None,
) -> float:
    """The model's price of a plan, and of a view that stores first rows, if it does."""
    if plan.technique is Technique.REBUILD and any(w.total_rows is None for w in windows.values()):
        return UNKNOWN
    kept = sum(isinstance(step, Derive) and step.once for step in _steps(plan))
    seconds = _COMMIT + kept * _JOB + len(_heavy(root)) * _STAGE
    for step in plan.steps:
        if isinstance(step, ReadSnapshot):
            read = _scan(windows[step.source].total_rows, len(step.columns))
            seconds += read * _asked(plan, windows, step.source, size)
        elif isinstance(step, ReadChanges):
            seconds += _read_changes(step, windows[step.source])
        elif isinstance(step, ReadView):
            seconds += _reached(plan, root, windows, size) * (_SCAN + _FIND) * _MICRO
    return seconds + _work(plan, root, windows, size, firsts)


def _steps(plan: RefreshPlan) -> tuple[Step, ...]:
    write = plan.write
    return (*plan.steps, *write.patching) if isinstance(write, Rewrite) else plan.steps


def _scan(rows: int | None, columns: int) -> float:
    return (rows or 0) * (_SCAN + columns * _SCAN_COLUMN) * _MICRO


def _asked(
    plan: RefreshPlan, windows: Mapping[str, SourceWindow], source: str, size: Size
) -> float:
    """How likely a snapshot is read: groups that lose their least or greatest value ask for it.

    A changed row is it by chance, the less often the more rows its group has.
    """
    changed = [w for w in windows.values() if w.changed]
    if plan.technique is not Technique.MERGE or [w.source for w in changed] != [source]:
        return 1.0
    return min(1.0, _moved(changed[0]) * size.rows / max(changed[0].total_rows or 0, 1))


def _read_changes(step: ReadChanges, window: SourceWindow) -> float:
    if not step.has_feed:
        rows = window.total_rows or 0
        return 2 * (_scan(rows, len(step.columns)) + rows * _COMPARE * _MICRO)
    return _FEED + _moved(window) * _CHANGED * _MICRO


def _heavy(root: Node) -> list[type[Node]]:
    """The operators that cost more than passing rows on."""
    return [type(node) for node in walk(root) if type(node) in _HEAVY]


def _work(
    plan: RefreshPlan,
    root: Node,
    windows: Mapping[str, SourceWindow],
    size: Size,
    firsts: Firsts | None,
) -> float:
    """What the write and the query, or its change, cost beyond reading."""
    write = plan.write
    if plan.technique is Technique.REBUILD:
        rows = sum(w.total_rows or 0 for w in windows.values())
        heavy = sum(_HEAVY[kind] for kind in _heavy(root))
        compared = 2 * size.rows * _COMPARE if isinstance(write, Rewrite) else 0
        return _QUERY + (rows * heavy + size.rows * _WRITE + compared) * _MICRO
    below = looked_at(root)
    if below is not None:
        return _over_all(write, root, below, windows, size) * _MICRO
    if firsts is not None:
        carried, moved = _carried(firsts.window.input, windows)
        carried += moved * _CARRIED[Window]
        moved *= _DISPLACED
    else:
        carried, moved = _carried(root, windows)
    if plan.technique is Technique.REKEY:
        carried += _grouped_anew(root, windows, moved, size)
    if isinstance(write, Renew):
        return (carried + size.rows * _RENEW) * _MICRO
    if isinstance(write, Append):
        return (carried + moved * _WRITE) * _MICRO
    if not isinstance(write, Patch):
        return carried * _MICRO
    patched = moved if plan.technique is Technique.DELTA else min(moved, size.rows)
    touched = min(_spread(moved, size), _reached(plan, root, windows, size))
    anew = 0.0 if _is_marked(patched, touched, size) else touched
    return (carried + patched * _PATCHED + anew * _REWRITE) * _MICRO


def _over_all(
    write: Write, root: Node, below: Node, windows: Mapping[str, SourceWindow], size: Size
) -> float:
    """What is stored is netted with the change and goes through the windows once more."""
    anew = len(_heavy(root)) - len(_heavy(below))
    compared = 2 * _COMPARE if isinstance(write, Rewrite) else _WRITE
    carried, _ = _carried(below, windows)
    return carried + size.rows * (_COMPARE + anew * _HEAVY[Window] + compared)


def _carried(root: Node, windows: Mapping[str, SourceWindow]) -> tuple[float, float]:
    """What changed rows and those that they take along cost on their way up; how many arrive."""
    partners = fan_outs(root, windows)
    moved = sum(_moved(w) * partners[w.source] for w in windows.values() if w.changed)
    moved *= _PARTITION if any(isinstance(node, Window) for node in walk(root)) else 1
    return moved * sum(_CARRIED[kind] for kind in _heavy(root)), moved


def _grouped_anew(
    root: Node, windows: Mapping[str, SourceWindow], moved: float, size: Size
) -> float:
    """All rows of the touched groups go through the query again; of few groups all are touched."""
    kinds = _heavy(root)
    if Window in kinds or TopK in kinds:
        return 0.0  # their rows are among those that a change takes along
    share = min(1.0, moved / max(size.rows, 1))
    return (
        share
        * sum(w.total_rows or 0 for w in windows.values())
        * sum(_HEAVY[kind] for kind in kinds)
    )


def _is_marked(going: float, touched: float, size: Size) -> bool:
    """Whether files that lose rows stay, with those rows marked as dead."""
    return size.rows >= size.files * MARKED_ROWS and going <= MOST_DEAD * touched


def _spread(moved: float, size: Size) -> float:
    """Rows of the files that `moved` rows, spread evenly, are found in."""
    files = max(size.files, 1)
    missed: float = (1 - 1 / files) ** min(moved, 1e6)
    return size.rows * (1 - missed)


def _reached(
    plan: RefreshPlan, root: Node, windows: Mapping[str, SourceWindow], size: Size
) -> float:
    """Rows of the view where its change can be.

    Where rows follow rows, the view mostly lies as its largest source does, and so do their
    changes. Groups and partitions lie by their keys, and the partners of a row anywhere.
    """
    if plan.technique is not Technique.DELTA:
        return size.rows
    changed = [w for w in windows.values() if w.changed]
    partners = fan_outs(root, windows)
    reaches = (w.reach if partners[w.source] < _SEVERAL else 1.0 for w in changed)
    return size.rows * max(max(reaches, default=1.0), 1 / max(size.files, 1))


def _moved(window: SourceWindow) -> float:
    if window.rows is not None:
        return float(window.rows)
    return _UNKNOWN_SHARE * (window.total_rows or 0)
