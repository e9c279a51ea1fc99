"""What the coordinator asks a runner to do."""

from __future__ import annotations

from enum import StrEnum

from headwater.vocabulary.lifecycle.machine import Machine


class CommandKind(StrEnum):
    """The four things a runner can be asked for."""

    START = "START"  # own the job and keep to its schedule
    STOP = "STOP"  # let go of the job, after the run that is under way
    SCAN = "SCAN"  # run the job once over everything, not only over what changed
    NOSCAN = "NOSCAN"  # stop such a run


class CommandState(StrEnum):
    """How far a command is."""

    CREATED = "CREATED"  # written by the coordinator
    TAKEN = "TAKEN"  # the runner has seen it
    SUCCESS = "SUCCESS"  # done; no text
    ERROR = "ERROR"  # failed; the text is the whole stack trace

    @property
    def is_terminal(self) -> bool:
        return COMMAND.is_terminal(self)


COMMAND = Machine(
    "command",
    CommandState.CREATED,
    {
        (CommandState.CREATED, CommandState.TAKEN): "a: the runner polls",
        (CommandState.TAKEN, CommandState.SUCCESS): "b: done",
        (CommandState.TAKEN, CommandState.ERROR): "c: failed",
        (CommandState.CREATED, CommandState.ERROR): "d: overtaken before it was seen",
    },
)
