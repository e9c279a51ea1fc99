"""What each technique would read and write, in rows, from what the log tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.plan.soundness import Verdict
from headwater.plan.strategies.inputs import SourceWindow
from headwater.vocabulary.technique import Technique

_PER_CHANGED_ROW = {
    Technique.APPEND: 1.0,
    Technique.MERGE: 2.0,
    Technique.DELTA: 3.0,
    Technique.REKEY: 4.0,
}
"""How many rows' work one changed row costs; the order of these numbers is what matters."""

_FIXED_REBUILD = 50_000.0
_FIXED_INCREMENTAL = 10_000.0
"""A rebuild evaluates the query, reads the view and merges; the others only merge."""


@dataclass(frozen=True)
class Price:
    """An estimate in rows of work; only comparable within one refresh."""

    technique: Technique
    sound: bool
    rows: float


def prices(found: tuple[Verdict, ...], windows: Mapping[str, SourceWindow]) -> tuple[Price, ...]:
    """A rebuild reads every source; the others work on what changed.

    Where the log does not tell how much changed, incremental upkeep is assumed to be cheaper.
    """
    total = sum(w.total_rows or 0 for w in windows.values())
    changed = [w for w in windows.values() if w.changed]
    unknown = any(w.rows is None or w.total_rows is None for w in changed)
    moved = sum(w.rows or 0 for w in changed)
    return tuple(
        Price(v.technique, v.sound, _rows(v.technique, total, moved, unknown=unknown))
        for v in found
    )


def _rows(technique: Technique, total: int, moved: int, *, unknown: bool) -> float:
    if technique is Technique.REBUILD:
        return float("inf") if unknown else _FIXED_REBUILD + total
    factor = _PER_CHANGED_ROW.get(technique, 4.0)
    return _FIXED_INCREMENTAL + factor * (1 if unknown else max(moved, 1))
