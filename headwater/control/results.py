"""How a run of a job ended, as far as its schedule is concerned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from headwater.control.retries import number_of
from headwater.vocabulary.errors import HeadwaterError, RefreshCanceled, RefreshRunning


class RunEnd(StrEnum):
    """What a run came to."""

    SUCCEEDED = "succeeded"  # the job has done what was due
    FAILED = "failed"  # the error decides whether it is tried again
    CANCELED = "canceled"  # somebody asked for it
    BUSY = "busy"  # somebody else is at the same view: no failure, tried again soon
    SKIPPED = "skipped"  # it never began: removed, moved, paused or changed before its start


@dataclass(frozen=True)
class RunResult:
    """What a run came to, and the error if there was one."""

    end: RunEnd
    number: int = 0
    error: Mapping[str, Any] | None = None


SUCCEEDED = RunResult(RunEnd.SUCCEEDED)
SKIPPED = RunResult(RunEnd.SKIPPED)


def result_of(error: BaseException) -> RunResult:
    """What an exception means for the job whose run raised it."""
    told = _told(error)
    if isinstance(error, RefreshRunning):
        return RunResult(RunEnd.BUSY, error.number, told)
    if isinstance(error, RefreshCanceled):
        return RunResult(RunEnd.CANCELED, error.number, told)
    return RunResult(RunEnd.FAILED, number_of(error), told)


def _told(error: BaseException) -> Mapping[str, Any]:
    if isinstance(error, HeadwaterError):
        return error.to_json()
    return {"number": number_of(error), "what": f"{type(error).__name__}: {error}"}
