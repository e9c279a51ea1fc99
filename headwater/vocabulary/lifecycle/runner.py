"""A process that refreshes views."""

from __future__ import annotations

from enum import StrEnum

from headwater.vocabulary.lifecycle.machine import Machine


class RunnerState(StrEnum):
    """Whether a runner takes part; only ACTIVE and DRAINING have a row in the ledger."""

    UNREGISTERED = "unregistered"  # no row: new, removed as silent, or waiting for its address
    ACTIVE = "active"  # reports, and is given jobs
    DRAINING = "draining"  # reports, finishes what runs, is given nothing new
    CLOSED = "closed"  # stopped; a later start is another runner with a fresh id

    @property
    def is_terminal(self) -> bool:
        return RUNNER.is_terminal(self)


RUNNER = Machine(
    "runner",
    RunnerState.UNREGISTERED,
    {
        (RunnerState.UNREGISTERED, RunnerState.ACTIVE): "a: registers with a fresh id",
        (RunnerState.ACTIVE, RunnerState.DRAINING): "b: `headwater drain`",
        (RunnerState.DRAINING, RunnerState.ACTIVE): "c: `headwater drain --undo`",
        (RunnerState.ACTIVE, RunnerState.UNREGISTERED): "d: its row vanished: it stops its jobs",
        (RunnerState.DRAINING, RunnerState.UNREGISTERED): "e: likewise",
        (RunnerState.UNREGISTERED, RunnerState.CLOSED): "f: closed before it was registered",
        (RunnerState.ACTIVE, RunnerState.CLOSED): "g: closed",
        (RunnerState.DRAINING, RunnerState.CLOSED): "h: closed",
    },
)
