"""The runner's worker pools, taking runs of jobs."""

from __future__ import annotations

from collections.abc import Mapping

import structlog

from headwater.control.results import SKIPPED, RunResult, result_of
from headwater.control.spec import read_spec
from headwater.runner.metrics import Metrics
from headwater.runner.pools import Pools
from headwater.runner.run import Done, JobWork, Run
from headwater.runner.work import End, Outcome, Work, WorkKind
from headwater.vocabulary.errors import InternalError
from headwater.vocabulary.lifecycle.job import JobKind

_KINDS: Mapping[JobKind, WorkKind] = {
    JobKind.REFRESH: WorkKind.REFRESH,
    JobKind.PURGE: WorkKind.PURGE,
    JobKind.SYS: WorkKind.BUILD,
}

log = structlog.get_logger(__name__)


class PooledWorkers:
    """Runs begin in a worker's thread, so that a job which waited is looked at again first."""

    def __init__(self, pools: Pools, work: JobWork, metrics: Metrics | None = None) -> None:
        self._pools = pools
        self._work = work
        self._metrics = metrics

    @property
    def slots(self) -> int:
        return sum(state.size for state in self._pools.state().values())

    def submit(self, run: Run, done: Done) -> None:
        def finished(outcome: Outcome) -> None:
            if outcome.end is not End.LATE:
                self._count(outcome)
                done(run, _result(outcome))

        self._pools.submit(
            Work(
                _KINDS[run.job.kind],
                run.name,
                lambda: self._perform(run),
                finished,
                run.cancellation.set,
                read_spec(run.job.spec).priority,
            )
        )

    def withdraw(self, run: Run) -> bool:
        return self._pools.withdraw(_KINDS[run.job.kind], run.name)

    def close(self, seconds: float) -> bool:
        return self._pools.close(seconds)

    def _perform(self, run: Run) -> RunResult:
        if run.cancellation.is_set or not run.begin():
            return SKIPPED
        return self._work.run(run)

    def _count(self, outcome: Outcome) -> None:
        if self._metrics is not None and outcome.end is End.TIMED_OUT:
            self._metrics.timed_out(outcome.kind.value)


def _result(outcome: Outcome) -> RunResult:
    """What a pool's outcome means for the job; an exception of any kind is a failure told."""
    if outcome.end is End.DROPPED:
        return SKIPPED
    if outcome.error is not None:
        if outcome.end is End.FAILED:
            log.warning("run_failed", job=outcome.name, exc_info=outcome.error)
        return result_of(outcome.error)
    if isinstance(outcome.value, RunResult):
        return outcome.value
    return result_of(InternalError(f"`{outcome.name}` ended without a result"))
