"""The lives of the things that the control plane keeps: one file per state machine.

Each file has the states with what they mean, and the table of allowed moves. `docs/states.md` draws
them, and a test compares the drawing with the tables.
"""

from headwater.vocabulary.lifecycle.attempt import ATTEMPT
from headwater.vocabulary.lifecycle.command import COMMAND, CommandKind, CommandState
from headwater.vocabulary.lifecycle.job import JOB, JobKind, JobState
from headwater.vocabulary.lifecycle.machine import Machine
from headwater.vocabulary.lifecycle.refresh import REFRESH, RefreshState
from headwater.vocabulary.lifecycle.runner import RUNNER, RunnerState

MACHINES: tuple[Machine, ...] = (REFRESH, JOB, COMMAND, RUNNER, ATTEMPT)

__all__ = [
    "ATTEMPT",
    "COMMAND",
    "JOB",
    "MACHINES",
    "REFRESH",
    "RUNNER",
    "CommandKind",
    "CommandState",
    "JobKind",
    "JobState",
    "Machine",
    "RefreshState",
    "RunnerState",
]
