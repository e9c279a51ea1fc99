"""What one refresh did, as its caller and the history see it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Self

from headwater.publish.publisher import Known
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.profile import Work
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.stamp import Stamp
from headwater.vocabulary.technique import Technique

if TYPE_CHECKING:
    from headwater.commit.committer import Landed
    from headwater.execute.recorder import Recorder


@dataclass(frozen=True)
class Started:
    """When a refresh began, by the clock and by a watch, and how many others were under way."""

    at: datetime
    watch: float
    others: int = 0

    @classmethod
    def now(cls, clock: Clock, others: int = 0) -> Self:
        return cls(clock.now(), time.perf_counter(), others)


@dataclass(frozen=True)
class Ran:
    """Which way a refresh went, and its commit, if there was one."""

    technique: Technique
    reasons: tuple[Reason, ...]
    stamp: Stamp | None = None
    landed: Landed | None = None
    forecast: Mapping[str, float] = field(default_factory=dict)


def receipt_of(
    attempt: str, known: Known, target: Frontier, started: Started, ran: Ran, running: int = 1
) -> Receipt:
    """The receipt of a refresh that ends now, as one of so many that are `running`."""
    stamp, landed = ran.stamp or known.stamp, ran.landed
    return Receipt(
        attempt=attempt,
        view=known.record.name,
        technique=ran.technique,
        frontier=target,
        frontier_before=known.record.frontier,
        sequence=stamp.sequence if stamp else 0,
        table_version=landed.version if landed else known.record.table_version,
        rows_inserted=landed.rows_inserted if landed else 0,
        rows_deleted=landed.rows_deleted if landed else 0,
        started_at=started.at,
        seconds=time.perf_counter() - started.watch,
        reasons=ran.reasons,
        forecast=ran.forecast,
        concurrency=(started.others + 1 + running) / 2,
    )


def profiled(
    receipt: Receipt, started: Started, recorder: Recorder, work: Mapping[str, Work] | None
) -> Receipt:
    """The same, with all that was done until now and what it cost."""
    seconds = time.perf_counter() - started.watch
    return replace(receipt, seconds=seconds, profile=recorder.costs(seconds, work))
