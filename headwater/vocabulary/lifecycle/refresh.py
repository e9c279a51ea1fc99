"""What a view's content is going through."""

from __future__ import annotations

from enum import StrEnum

from headwater.vocabulary.lifecycle.machine import Machine


class RefreshState(StrEnum):
    """Whether a view is being refreshed; whatever happens, it returns to IDLE."""

    IDLE = "IDLE"  # nobody holds the view's claim
    REFRESHING = "REFRESHING"  # an attempt computes; the view's table is untouched
    FINISHING = "FINISHING"  # the attempt commits and publishes; it can no longer be cancelled

    @property
    def is_terminal(self) -> bool:
        return REFRESH.is_terminal(self)


REFRESH = Machine(
    "refresh",
    RefreshState.IDLE,
    {
        (RefreshState.IDLE, RefreshState.REFRESHING): "a: an attempt gets the claim",
        (RefreshState.REFRESHING, RefreshState.FINISHING): "b: everything is computed",
        (RefreshState.REFRESHING, RefreshState.IDLE): "c: nothing to do, failed, canceled or dead",
        (RefreshState.FINISHING, RefreshState.IDLE): "d: committed, refused by the fence or dead",
    },
)
