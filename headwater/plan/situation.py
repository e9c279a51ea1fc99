"""What the planner knows about one refresh besides the view itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater.plan.cost import Size
from headwater.plan.learnt import Experience
from headwater.plan.moved import moved_clocks
from headwater.plan.soundness import UNSTABLE
from headwater.plan.strategies.inputs import SourceWindow
from headwater.plan.view import CompiledView
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.technique import Policy, Technique

_FLOOD, _FLOOD_ROWS = 0.05, 10_000
"""Where more changed rows than this share of all are read, the views behind rebuild as well."""

_LARGE_ROWS = 2_000_000
"""To find out which of a source's files can be skipped takes as long as to read this many rows."""

_FEW_ROWS, _FEW_BYTES = 10_000, 2**20
"""So many changed rows are looked at before a view is computed anew; or so many bytes of them."""


@dataclass(frozen=True)
class Situation:
    """Versions, sizes, wishes and the clock."""

    windows: Mapping[str, SourceWindow]
    must_rebuild: tuple[Reason, ...] = ()
    exists: bool = True  # the view's table has a committed content of this very layout
    followed: bool = True  # other views read the view's changes, and prefer few of them
    consumed: bool = False  # so do readers outside
    policy: Policy = Policy.AUTO
    forced: Technique | None = None
    size: Size = field(default_factory=Size)
    experience: Experience = field(default_factory=Experience)
    clock: Mapping[str, str] = field(default_factory=dict)  # what it tells, as literals
    clock_before: Mapping[str, str] = field(default_factory=dict)

    @property
    def changed(self) -> frozenset[str]:
        """The sources with a change, and the clocks that tell something else."""
        return frozenset(w.source for w in self.windows.values() if w.changed) | self.moved_clocks

    @property
    def moved_clocks(self) -> frozenset[str]:
        return moved_clocks(self.clock_before, self.clock)

    @property
    def is_flooded(self) -> bool:
        """Whether so much has changed that the views behind gain nothing from a small change."""
        moved = [w for w in self.windows.values() if w.changed]
        total = sum(w.total_rows or 0 for w in moved)
        return sum(w.rows or 0 for w in moved) > max(_FLOOD * total, _FLOOD_ROWS)

    @property
    def large(self) -> frozenset[str]:
        sizes = ((w.source, w.total_rows or 0) for w in self.windows.values())
        return frozenset(source for source, rows in sizes if rows >= _LARGE_ROWS)

    def asked_first(self, view: CompiledView) -> tuple[str, ...]:
        """The sources whose few changed rows tell if anything that a view uses is different.

        So they are before it is computed anew. Rows that only came are different for sure.
        """
        moved = [w for w in self.windows.values() if w.changed]
        is_free = self.policy is Policy.AUTO and self.forced is None
        if not is_free or not self.exists or self.must_rebuild or self.moved_clocks:
            return ()
        if any(reason.code in UNSTABLE for reason in view.reasons):
            return ()
        if any(w.inserts_only or not w.has_feed for w in moved):
            return ()
        return tuple(w.source for w in moved) if all(map(_is_small, moved)) else ()


def _is_small(window: SourceWindow) -> bool:
    if window.rows is None:
        return window.bytes is not None and window.bytes <= _FEW_BYTES
    return window.rows <= _FEW_ROWS
