"""Run a plan's steps on Spark, up to the write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from headwater.execute.bounds import Bounds
from headwater.execute.inlined import Inlined
from headwater.execute.reading import changes, netted, pinned_columns, stored_rows, wide_changes
from headwater.execute.recorder import Recorder
from headwater.execute.relations import SMALL_ROWS, Kept, gathered, is_sendable, keep, most_rows
from headwater.execute.shared_changes import SharedChanges
from headwater.execute.sieves import Sieves
from headwater.execute.staged import Staged, Stored
from headwater.plan.sent import hinted
from headwater.plan.steps import (
    TARGET,
    Derive,
    Overwrite,
    ReadChanges,
    ReadSnapshot,
    ReadView,
    RefreshPlan,
    Rewrite,
    Step,
    Write,
)
from headwater.plan.stored import StoredTable
from headwater.plan.strategies.inputs import SourceWindow
from headwater.plan.usage import mentions, named_in, written
from headwater.vocabulary.errors import HeadwaterError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MOST = 0.5
"""A rebuild that changes more than this share of a view's rows writes it whole."""

_ONE_TASK_BYTES = 16 * 2**20
"""So much is read by one task in less time than an exchange between several takes."""

_ONE_TASK_VIEW_BYTES = 4 * 2**20
"""Likewise of a view's own table, whose rows are looked up."""

Checkpoint = Callable[[str], None]
"""Called before each step with its name; raises to stop the refresh."""


class Executor:
    """Makes the relations of one plan in one isolated session."""

    def __init__(
        self,
        session: SparkSession,
        tables: Mapping[str, StoredTable],
        stored: Stored | None,
        windows: Mapping[str, SourceWindow],
        recorder: Recorder,
        changes_read: SharedChanges,
    ) -> None:
        self._session = session
        self._tables = tables
        self._stored = stored
        self._windows = windows
        self._kept: dict[str, Kept] = {}
        self._is_small = stored is not None and stored.bytes <= _ONE_TASK_VIEW_BYTES
        self._bounds = Bounds(session, self._kept, {TARGET} if self._is_small else ())
        self._sieves = Sieves(self._kept, stored.rows if stored is not None else None)
        self._recorder = recorder
        self._changes = changes_read
        self._mentions: Counter[str] = Counter()
        self._inlined = Inlined({}, ())
        self._passing: set[str] = set()  # relations with a change below that is not kept
        self._rows: Counter[str] = Counter()  # of relations made of changes, about

    def run(self, plan: RefreshPlan, checkpoint: Checkpoint) -> Staged:
        """Make every relation; a rewrite turns into the cheaper of its two ways."""
        write = plan.write
        self._mentions = mentions(plan)
        self._inlined = Inlined(self._mentions, written(write))
        if isinstance(write, Rewrite) and self._stored is not None:
            self._rows[write.content] = self._stored.rows or 0
        asked = write.changes if isinstance(write, Overwrite) else ()
        if not self._is_quiet([step for step in plan.steps if step.name in asked], checkpoint):
            self._make_all((s for s in plan.steps[:-1] if s.name not in asked), checkpoint)
        if isinstance(write, Rewrite):
            write = self._decided(write, checkpoint)
        return Staged(self._session, write, self._stored, dict(self._kept), self._recorder)

    def _is_quiet(self, asked: Sequence[Step], checkpoint: Checkpoint) -> bool:
        """Whether changes that are asked first, if any are, turn out to be none.

        What cannot be told this way is no reason to fail: the content is computed then.
        """
        try:
            self._make_all(asked, checkpoint)
        except HeadwaterError:
            raise
        except Exception:  # noqa: BLE001
            return False
        return bool(asked) and not any(self._kept[step.name].rows for step in asked)

    def _decided(self, rewrite: Rewrite, checkpoint: Checkpoint) -> Write:
        content, differing = self._kept[rewrite.content], self._kept[rewrite.difference]
        if differing.rows > _MOST * max(content.rows, 1):
            return Overwrite(rewrite.name, rewrite.content, rewrite.columns)
        self._make_all(rewrite.patching, checkpoint)
        return rewrite.patch

    def _make_all(self, steps: Iterable[Step], checkpoint: Checkpoint) -> None:
        for step in steps:
            checkpoint(f"execute:{step.name}")
            with self._recorder.part(step.name, self._session) as part:
                self._make(step)
                kept = self._kept.get(step.name)
                part.rows = kept.rows if kept else None

    def _make(self, step: Step) -> None:
        if isinstance(step, ReadSnapshot):
            table = self._tables[step.source]
            frame = pinned_columns(self._session, table, step.version, step.columns)
            self._register(step.name, frame)
        elif isinstance(step, ReadChanges):
            self._make_changes(step)
        elif isinstance(step, ReadView) and self._stored is not None:
            rows = stored_rows(self._session, self._stored)
            self._register(step.name, rows.coalesce(1) if self._is_small else rows)
        elif isinstance(step, Derive):
            self._derive(step)
        else:
            raise TypeError(f"cannot execute {step}")

    def _derive(self, step: Derive) -> None:
        sql = self._sieves.fill(self._bounds.fill(step.sql))
        sql = hinted(sql, lambda name: is_sendable(self._kept[name]))
        named = set(named_in(step.sql))
        self._rows[step.name] += sum(self._rows[name] for name in named)
        if self._inlined.takes(step, sql):
            if not self._passing.isdisjoint(named):
                self._passing.add(step.name)
            return
        frame = self._session.sql(self._inlined.whole(sql))
        if step.once:
            self._keep(step.name, frame)
        elif not self._passing.isdisjoint(named):
            self._pass_or_keep(step.name, frame)
        else:
            self._register(step.name, frame)

    def _make_changes(self, step: ReadChanges) -> None:
        table, window = self._tables[step.source], self._windows[step.source]
        self._rows[step.name] = window.rows or 0
        is_small = self._rows[step.name] <= SMALL_ROWS
        shared = None
        if is_small:
            shared = self._changes.rows(self._session, table, step, wide_changes)
        if shared is None:
            in_one = is_small and window.bytes is not None and window.bytes <= _ONE_TASK_BYTES
            self._pass_or_keep(step.name, changes(self._session, table, step, in_one=in_one))
        elif step.inserts_only:
            self._kept[step.name] = shared
            self._register(step.name, shared.frame)
        else:
            self._pass_or_keep(step.name, netted(self._session, table, step, shared.frame))

    def _pass_or_keep(self, name: str, frame: DataFrame) -> None:
        """What is named once is computed by whoever names it, in the same job."""
        if self._mentions[name] > 1:
            self._keep(name, frame)
            return
        self._passing.add(name)
        self._register(name, frame)

    def _keep(self, name: str, frame: DataFrame) -> None:
        """What is taken for small and is not is made twice; the other way round costs less."""
        may_be_small = self._rows[name] <= most_rows(frame)
        kept = gathered(self._session, keep(self._session, frame, may_be_small=may_be_small))
        self._kept[name] = kept
        self._rows[name] = kept.rows
        self._register(name, kept.frame)

    def _register(self, name: str, frame: DataFrame) -> None:
        frame.createOrReplaceTempView(name)
