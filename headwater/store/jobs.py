"""The standing duties: which there are, who has them, how each goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headwater.store import queries
from headwater.store.dialects import Database
from headwater.store.encoding import optional_json, stamp
from headwater.store.job_record import JobRecord, job_record
from headwater.store.leases import Term
from headwater.store.marks import Mark, Marks
from headwater.vocabulary.lifecycle.job import JOB, JobKind, JobState

_SQL = queries.load("jobs")
_CLEAR_BATCH = 5_000


@dataclass(frozen=True, slots=True)
class Duty:
    """What a job is to be: its name and its settings, without any of its history."""

    subject: str
    name: str
    kind: JobKind
    placed_by: str
    spec: str
    account: str = ""

    @property
    def identity(self) -> tuple[str, str, str]:
        return (self.account, self.subject, self.name)


@dataclass(frozen=True, slots=True)
class Finish:
    """How a run ended, as the job's row is to tell it."""

    state: JobState
    next_at: datetime | None
    retry: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    succeeded_at: datetime | None = None
    missed: int = 0
    scanned: bool = False


class Jobs:
    """Table `hw_job`: one row per job, with a number that grows with each registration.

    Settings (`spec`, `placed_by`) belong to the coordinator, wishes (`should_run`, `paused`,
    `scan`) to users, the owner to the runner that took the job, and the status (`state`,
    `next_at`, `retry`, `last_*`, `misses`, `error`) to that owner, who compares `sequence` with
    what it read. No write touches a field of another group, but that an owner who goes leaves the
    job ready. `watermark` is how far a job without changes has looked.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._marks = Marks(database)

    # --- looking ----------------------------------------------------------------------------

    def get(self, job: int) -> JobRecord | None:
        """One job, dropped or not; None if it was cleared."""
        rows = self._database.rows(_SQL["get_job"], {"id": job})
        return job_record(rows[0]) if rows else None

    def find(self, name: str) -> tuple[JobRecord, ...]:
        """The jobs of a name that are not dropped; more than one only over several accounts."""
        return tuple(map(job_record, self._database.rows(_SQL["find_jobs"], {"name": name})))

    def list(self) -> tuple[JobRecord, ...]:
        """Every job, oldest first, also dropped ones that are not cleared yet."""
        return tuple(map(job_record, self._database.rows(_SQL["list_jobs"], {})))

    def owned(self, runner: str, kind: JobKind) -> tuple[JobRecord, ...]:
        """A runner's jobs of one kind that are not dropped."""
        parameters = {"runner": runner, "kind": kind.value}
        rows = self._database.rows(_SQL["list_jobs_of_owner"], parameters)
        return tuple(map(job_record, rows))

    def counts(self) -> Mapping[JobState, int]:
        """How many jobs are in each state."""
        rows = self._database.rows(_SQL["count_jobs_by_state"], {})
        return {JobState(state): count for state, count in rows}

    # --- the coordinator's ------------------------------------------------------------------

    def register(self, duty: Duty, *, term: Term, next_at: datetime | None, now: datetime) -> bool:
        """Add a job with a new number; false if one of this name is alive already."""
        names = {"account": duty.account, "subject": duty.subject, "name": duty.name}
        parameters = {
            **names,
            "kind": duty.kind.value,
            "placed_by": duty.placed_by,
            "spec": duty.spec,
            "next_at": _optional(next_at),
            "now": stamp(now),
            **term.parameters,
        }
        with self._database.transaction():
            self._database.change(_SQL["forget_dropped_job"], names)
            return self._marked("register_job", parameters)

    def respecify(
        self, job: int, duty: Duty, *, term: Term, next_at: datetime | None, reschedule: bool
    ) -> bool:
        """Give a job new settings, and with `reschedule` a new next time."""
        parameters = {
            "id": job,
            "spec": duty.spec,
            "placed_by": duty.placed_by,
            "next_at": _optional(next_at),
            "reschedule": int(reschedule),
            **term.parameters,
        }
        return self._marked("respecify_job", parameters)

    def drop(self, job: int, *, term: Term, now: datetime) -> bool:
        """End a job; false if it was dropped already."""
        return self._marked("drop_job", {"id": job, "now": stamp(now), **term.parameters})

    def assign(self, job: int, runner: str, *, term: Term) -> bool:
        """Make the leader's runner the owner of the leader's own job; false if it is."""
        return self._change("assign_job", id=job, runner=runner, **term.parameters)

    def free_lost(self, *, term: Term) -> int:
        """Free the jobs of runners whose rows are gone; tells how many."""
        return self._database.change(_SQL["free_lost_jobs"], term.parameters)

    # --- the owner's ------------------------------------------------------------------------

    def take(self, job: int, runner: str) -> bool:
        """Become the owner; false if somebody is, or if the job or the runner is not wanted."""
        return self._change("take_job", id=job, runner=runner)

    def release(self, job: int, runner: str) -> bool:
        """Let go of a job; false if it was somebody else's."""
        return self._marked("release_job", {"id": job, "runner": runner})

    def begin(self, job: JobRecord, runner: str, now: datetime) -> bool:
        """Start a run; false if the job is not this runner's, not wanted, or has changed."""
        parameters = {"id": job.id, "runner": runner, "expected_sequence": job.sequence}
        return self._change("begin_run", **parameters, now=stamp(now))

    def finish(self, job: int, runner: str, expected_sequence: int, end: Finish) -> bool:
        """End a run; false if the job was taken away, or its row has changed meanwhile."""
        JOB.check(JobState.RUNNING, end.state)
        return self._change(
            "finish_run",
            id=job,
            runner=runner,
            expected_sequence=expected_sequence,
            state=end.state.value,
            next_at=_optional(end.next_at),
            retry=optional_json(end.retry),
            error=optional_json(end.error),
            succeeded_at=_optional(end.succeeded_at),
            missed=end.missed,
            scanned=int(end.scanned),
        )

    def flush_watermarks(self, runner: str, watermark: datetime, least_move: timedelta) -> int:
        """Remember how far a runner has looked, where that is far enough beyond what is known.

        One statement, however many jobs; tells how many it was.
        """
        parameters = {
            "runner": runner,
            "watermark": stamp(watermark),
            "moved_since": stamp(watermark - least_move),
        }
        return self._database.change(_SQL["flush_watermarks"], parameters)

    # --- users' -----------------------------------------------------------------------------

    def set_next(self, job: JobRecord, next_at: datetime | None) -> bool:
        """Move a job's next time, provided its status is as it was read."""
        parameters = {
            "id": job.id,
            "next_at": _optional(next_at),
            "expected_sequence": job.sequence,
        }
        return self._marked("set_next", parameters)

    def set_should_run(self, job: int, *, wanted: bool) -> bool:
        """Say whether a job is to run at all."""
        return self._marked("set_should_run", {"id": job, "wanted": wanted})

    def pause(self, job: int) -> bool:
        """Keep a job from starting."""
        return self._marked("pause_job", {"id": job})

    def resume(self, job: int, now: datetime) -> bool:
        """Let a job go on, also one that was stopped by an error or waits after a cancel."""
        parameters = {"id": job, "now": stamp(now)}
        with self._database.transaction():
            return self._marked("resume_job", parameters) or self._marked(
                "unpause_running_job", {"id": job}
            )

    def set_scan(self, job: int, *, wanted: bool) -> bool:
        """Ask for one run over everything, or take the wish back."""
        return self._marked("set_scan", {"id": job, "wanted": wanted})

    def clear_dropped(self, now: datetime, keep_days: float = 1) -> int:
        """Forget jobs that were dropped long enough ago, in short transactions."""
        before = stamp(now - timedelta(days=keep_days))
        parameters = {"dropped_before": before, "batch": _CLEAR_BATCH}
        cleared = 0
        while batch := self._database.change(_SQL["clear_dropped_jobs"], parameters):
            cleared += batch
        return cleared

    # --- writing ----------------------------------------------------------------------------

    def _marked(self, query: str, parameters: Mapping[str, object]) -> bool:
        """Change one row and tell everybody that looks, in one transaction."""
        with self._database.transaction():
            changed = self._database.change(_SQL[query], parameters) == 1
            if changed:
                self._marks.bump(Mark.JOBS)
        return changed

    def _change(self, query: str, **parameters: object) -> bool:
        return self._database.change(_SQL[query], parameters) == 1


def _optional(moment: datetime | None) -> str | None:
    return None if moment is None else stamp(moment)
