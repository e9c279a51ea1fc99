"""Jobs and the processes that do them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from headwater.cli import figures
from headwater.cli.blocks import Table, table
from headwater.store.job_record import JobRecord
from headwater.store.runners import RunnerRecord

_NOBODY = "no process serves this project; start one with `headwater serve`"


def jobs_table(jobs: Iterable[JobRecord], addresses: Mapping[str, str], now: datetime) -> Table:
    """A line per job, oldest first."""
    return table(
        "job kind state owner next_run last_success missed note",
        [
            (
                job.name,
                job.kind.value,
                _state(job),
                addresses.get(job.owner or "", ""),
                figures.until(job.next_at, now) if job.owner else "",
                figures.ago(job.last_success, now),
                str(job.misses or ""),
                _note(job),
            )
            for job in jobs
        ],
        right="missed",
        empty="no jobs yet; they are made when a process serves (`headwater serve`)",
    )


def runners_table(
    runners: Iterable[RunnerRecord],
    owned: Mapping[str | None, int],
    leader: str | None,
    now: datetime,
) -> Table:
    """A line per process, by address."""
    return table(
        "runner address state jobs running workers reported leads",
        [
            (
                runner.id,
                runner.address,
                runner.state.value,
                str(owned.get(runner.id, 0)),
                str(runner.running),
                str(runner.slots),
                figures.ago(runner.reported_at, now),
                "yes" if runner.id == leader else "",
            )
            for runner in runners
        ],
        right="jobs running workers",
        empty=_NOBODY,
    )


def _state(job: JobRecord) -> str:
    """What a user set comes before what the job does."""
    if not job.should_run:
        return "off"
    return "paused" if job.paused else job.state.value


def _note(job: JobRecord) -> str:
    if job.error is None:
        return ""
    failures = (job.retry or {}).get("count")
    times = f" ({figures.counted(failures, 'failure')} in a row)" if failures else ""
    return f"{job.error.get('code') or job.error.get('what') or ''}{times}"
