"""Run a plan's steps on Spark, up to the write."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from headwater.execute.reading import changes, columns_at, snapshot
from headwater.execute.relations import SMALL_ROWS, keep
from headwater.execute.staged import Staged
from headwater.plan.steps import (
    Derive,
    ReadChanges,
    ReadSnapshot,
    ReadView,
    RefreshPlan,
    Step,
)
from headwater.plan.stored import StoredTable
from headwater.vocabulary.receipt import StepCost

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Checkpoint = Callable[[str], None]
"""Called before each step with its name; raises to stop the refresh."""


class Executor:
    """Makes the relations of one plan in one isolated session."""

    def __init__(
        self,
        session: SparkSession,
        tables: Mapping[str, StoredTable],
        target: tuple[str, int] | None,
        expected_rows: Mapping[str, int | None],
    ) -> None:
        self._session = session
        self._tables = tables
        self._target = target
        self._expected = expected_rows
        self._rows: dict[str, int] = {}
        self._costs: list[StepCost] = []

    def run(self, plan: RefreshPlan, checkpoint: Checkpoint) -> Staged:
        for step in plan.steps[:-1]:
            checkpoint(f"execute:{step.name}")
            started = time.perf_counter()
            self._make(step)
            seconds = time.perf_counter() - started
            self._costs.append(StepCost(step.name, seconds, self._rows.get(step.name)))
        return Staged(self._session, plan, dict(self._rows), tuple(self._costs))

    def _make(self, step: Step) -> None:
        if isinstance(step, ReadSnapshot):
            table = self._tables[step.source]
            self._register(step.name, columns_at(self._session, table, step.version, step.columns))
        elif isinstance(step, ReadChanges):
            frame = changes(self._session, self._tables[step.source], step)
            self._keep(step.name, frame, may_be_small=self._is_small(step.source))
        elif isinstance(step, ReadView) and self._target is not None:
            self._register(step.name, snapshot(self._session, *self._target))
        elif isinstance(step, Derive):
            frame = self._session.sql(step.sql)
            if step.once:
                self._keep(step.name, frame, may_be_small=self._all_small())
            else:
                self._register(step.name, frame)
        else:
            raise TypeError(f"cannot execute {step}")

    def _keep(self, name: str, frame: DataFrame, *, may_be_small: bool) -> None:
        kept, self._rows[name] = keep(self._session, frame, may_be_small=may_be_small)
        self._register(name, kept)

    def _register(self, name: str, frame: DataFrame) -> None:
        frame.createOrReplaceTempView(name)

    def _is_small(self, source: str) -> bool:
        expected = self._expected.get(source)
        return expected is None or expected <= SMALL_ROWS

    def _all_small(self) -> bool:
        return all(rows <= SMALL_ROWS for rows in self._rows.values())
