"""One piece of work for a pool, and how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class WorkKind(StrEnum):
    """Each kind has workers of its own, so that much of one leaves the others their share."""

    REFRESH = "refresh"
    PURGE = "purge"
    BUILD = "build"


class End(StrEnum):
    """How work ended."""

    FINISHED = "finished"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    LATE = "late"
    DROPPED = "dropped"


@dataclass(frozen=True)
class Outcome:
    """How one piece of work ended; `value` is what it returned, `error` what it raised."""

    name: str
    kind: WorkKind
    end: End
    value: object = None
    error: BaseException | None = None
    waited_seconds: float = 0.0
    seconds: float = 0.0


def _nothing() -> None:
    return None


@dataclass(frozen=True)
class Work:
    """What a worker calls.

    `cancel` must make `run` end soon and prevent its commit; it is called from another thread and
    must not block. `done` gets the outcome, from whichever thread knows it, exactly once; after
    TIMED_OUT alone it is called once more, with LATE, when `run` has really ended.
    """

    kind: WorkKind
    name: str
    run: Callable[[], object]
    done: Callable[[Outcome], None]
    cancel: Callable[[], None] = _nothing
    priority: int = 0
