"""The work of jobs on Spark: each run in sessions of its own, stopped by its own cancellation."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import structlog

from headwater.attempt.request import Request
from headwater.control.results import SUCCEEDED, RunEnd, RunResult, result_of
from headwater.control.spec import read_spec
from headwater.graph.refreshing import refresh_views
from headwater.runner.metrics import Metrics
from headwater.runner.purging import Purging
from headwater.runner.run import Run
from headwater.store.marks import Mark
from headwater.vocabulary.errors import (
    AsOfBelowFrontier,
    FrontierUnsettled,
    SparkFailed,
    ViewNotReady,
)
from headwater.vocabulary.lifecycle.job import JobKind
from headwater.vocabulary.receipt import AttemptState, Receipt
from headwater.workspace.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)


class RefreshWork:
    """Refreshes views of an open project; many runs at once share its ledger and its Spark."""

    def __init__(self, workspace: Workspace, metrics: Metrics | None = None) -> None:
        self._workspace = workspace
        self._metrics = metrics
        self._turn = threading.Lock()
        self._definitions: int | None = None
        self._purging = Purging()
        self._spark_lost_at: datetime | None = None

    def run(self, run: Run) -> RunResult:
        """Refresh what the job is about; whatever goes wrong is a result, not an exception."""
        began = self._workspace.clock.now()
        try:
            self._carry_out(run, began)
        except Exception as error:  # noqa: BLE001  (the job's row tells it, the loop goes on)
            return self._result(run, error, began)
        return SUCCEEDED

    def _carry_out(self, run: Run, began: datetime) -> None:
        branch = self._branch(run)
        run.cancellation.when_set(branch.stop)
        if run.job.kind is JobKind.PURGE:
            self._purging.run(branch, lambda: run.cancellation.is_set)
        elif views := _views(run):
            self._refresh(run, branch, views, began)

    def _refresh(
        self, run: Run, branch: Workspace, views: tuple[str, ...], began: datetime
    ) -> None:
        """A view that fails for good is its own job's matter, not that of all dictionaries."""
        is_own = run.job.kind is JobKind.SYS
        request = Request(
            full=run.scan,
            manual=False,
            dictionaries=is_own,
            job=run.job.name,
            due=run.job.next_at,
            ends_at=_ends_at(run, began, branch),
        )
        outcome = refresh_views(branch, views, request, told=self._told)
        for view in views:
            error = outcome.failures.get(view)
            if error is None:
                continue
            if error.is_temporary or not is_own:
                raise error
            log.warning("dictionaries_stay", view=view, error=str(error).split("\n")[0])

    def _branch(self, run: Run) -> Workspace:
        """The project as it is defined now; its steps look for the cancellation in between."""
        with self._turn:
            marked = self._workspace.ledger.marks.read().get(Mark.DEFINITIONS, 0)
            if self._definitions != marked:
                self._workspace.reload()
                self._definitions = marked
            _ = self._workspace.definitions  # read once for all branches

        def observe(step: str) -> None:
            self._workspace.observer(step)
            if run.cancellation.is_set:
                branch.stop()

        branch = self._workspace.branch(observe)
        return branch

    def _told(self, receipt: Receipt) -> None:
        log.info(
            "refreshed",
            view=receipt.view,
            attempt=receipt.attempt,
            technique=receipt.technique.value,
            rows=receipt.rows_inserted + receipt.rows_deleted,
            seconds=round(receipt.seconds, 3),
        )
        if self._metrics is not None:
            self._metrics.refreshed(receipt)

    def _result(self, run: Run, error: Exception, began: datetime) -> RunResult:
        result = _automatic(error)
        if result.end is RunEnd.CANCELED and not self._was_asked(run, began):
            result = RunResult(RunEnd.FAILED, result.number, result.error)
        if result.end is RunEnd.FAILED:
            log.warning("run_failed", job=run.job.name, error=str(error).split("\n")[0])
            if self._is_spark_lost(began):
                return result_of(SparkFailed(f"Spark died under `{run.job.name}`"))
        return result

    def _was_asked(self, run: Run, began: datetime) -> bool:
        """Whether somebody wanted the end, of this view or of one that it reads.

        A lost claim ends an attempt in the same way and is nobody's wish.
        """
        if run.cancellation.is_set:
            return True
        newest = self._workspace.ledger.attempts.list(state=AttemptState.CANCELED, limit=20)
        return any(
            attempt.cancel_requested_at is not None and attempt.ended_at >= began
            for attempt in newest
            if attempt.ended_at is not None
        )

    def _is_spark_lost(self, since: datetime) -> bool:
        """Whether the JVM went away; then it is forgotten, and the next run starts another.

        Of several runs that it took along, one finds it dead and the others find it forgotten.
        """
        spark = self._workspace.started_spark
        if spark is not None:
            self._forget_if_dead(spark)
        return self._spark_lost_at is not None and self._spark_lost_at >= since

    def _forget_if_dead(self, spark: SparkSession) -> None:
        from headwater.execute.reviving import forget, is_alive  # noqa: PLC0415  (loads Spark)

        if is_alive(spark):
            return
        with self._turn:
            self._spark_lost_at = self._workspace.clock.now()
            if self._workspace.started_spark is spark:
                log.error("spark_lost")
                forget(spark)
                self._workspace.drop_spark(spark)


def _automatic(error: Exception) -> RunResult:
    """What an error means where nobody asked for anything in particular.

    That another refresher is already further is no failure, and a view that is being built will be
    ready; both stop a user's own request for good.
    """
    result = result_of(error)
    if isinstance(error, AsOfBelowFrontier):
        return replace(result, end=RunEnd.BUSY)
    if isinstance(error, ViewNotReady):
        return replace(result, number=FrontierUnsettled.number)
    return result


def _views(run: Run) -> tuple[str, ...]:
    """The views that the job is about: a handler's, all readers of dictionaries, or its own one."""
    views = read_spec(run.job.spec).views
    return (run.job.subject,) if run.job.kind is JobKind.REFRESH and not views else views


def _ends_at(run: Run, began: datetime, branch: Workspace) -> datetime | None:
    """When the pool stops the run; a job may refresh several views until then."""
    runner = branch.config.runner
    is_build = run.job.kind is JobKind.SYS
    limit = runner.build_limit_seconds if is_build else runner.refresh_limit_seconds
    return began + timedelta(seconds=limit) if limit else None
