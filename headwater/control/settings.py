"""The numbers of the control plane; each is a setting of headwater.toml with this default."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from headwater.control.retries import RetryPolicy


@dataclass(frozen=True)
class ControlSettings:
    """How often each loop looks, and how long silence is tolerated."""

    lease_seconds: float = 15.0
    renew_seconds: float = 5.0
    settle_seconds: float = 5.0
    tick_seconds: float = 1.0
    report_seconds: float = 10.0
    poll_seconds: float = 5.0
    silent_seconds: float = 30.0
    reconcile_seconds: float = 30.0
    reconcile_again_seconds: float = 1.0
    retry_base_seconds: float = 5.0
    retry_longest_seconds: float = 300.0
    after_cancel_seconds: float = 120.0
    busy_seconds: float = 1.0
    reap_seconds: float = 60.0
    flush_seconds: float = 3600.0
    dictionary_seconds: float = 8 * 3600.0
    virtual_nodes: int = 100
    commands_per_pass: int = 2_000
    most_started: int = 1_000

    @property
    def retry(self) -> RetryPolicy:
        return RetryPolicy(
            timedelta(seconds=self.retry_base_seconds),
            timedelta(seconds=self.retry_longest_seconds),
        )


BUSY_SHARE = 0.01
"""A loop that only looks after changes may take this part of a core, however long its lists are."""


def pause_after(least_seconds: float, took: timedelta) -> timedelta:
    """The wait before something of this cost is done again."""
    return max(timedelta(seconds=least_seconds), took / BUSY_SHARE)
