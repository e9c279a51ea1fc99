"""What follows from the numbers of the control plane."""

from __future__ import annotations

from datetime import timedelta

from headwater.control.retries import RetryPolicy
from headwater.vocabulary.settings import ControlSettings

BUSY_SHARE = 0.004
"""A loop that only looks after changes may take this part of a core, however long its lists are."""


def retry_policy(settings: ControlSettings) -> RetryPolicy:
    """How long to wait after failures."""
    return RetryPolicy(
        timedelta(seconds=settings.retry_base_seconds),
        timedelta(seconds=settings.retry_longest_seconds),
    )


def pause_after(least_seconds: float, took: timedelta) -> timedelta:
    """The wait before something of this cost is done again."""
    return max(timedelta(seconds=least_seconds), took / BUSY_SHARE)
