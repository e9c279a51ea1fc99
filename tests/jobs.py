"""A job as the ledger would have it; tests say what is special about theirs by `replace`."""

from __future__ import annotations

from headwater.control.spec import Spec
from headwater.control.triggers import OnChange
from headwater.store.job_record import JobRecord
from headwater.testing.clock import START
from headwater.vocabulary.lifecycle.job import JobKind, JobState

JOB = JobRecord(
    id=1,
    account="",
    subject="v",
    name="v",
    kind=JobKind.REFRESH,
    placed_by="s",
    spec=Spec(OnChange(), ("s",)).to_text(),
    should_run=True,
    paused=False,
    scan=False,
    owner="r",
    state=JobState.RUNNING,
    sequence=0,
    next_at=None,
    retry=None,
    last_start=None,
    last_success=None,
    misses=0,
    error=None,
    watermark=None,
    registered_at=START,
    dropped_at=None,
)
