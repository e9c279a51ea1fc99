"""Groups of settings for the processes that serve; each has the default that users get."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def _number(default: float, least: float) -> Any:
    return field(default=default, metadata={"least": least})


@dataclass(frozen=True)
class ControlSettings:
    """How often each loop looks, and how long silence is tolerated."""

    lease_seconds: float = _number(15.0, 0.1)
    renew_seconds: float = _number(5.0, 0.05)
    settle_seconds: float = _number(5.0, 0)
    tick_seconds: float = _number(1.0, 0.01)
    report_seconds: float = _number(10.0, 0.05)
    poll_seconds: float = _number(5.0, 0.05)
    silent_seconds: float = _number(30.0, 0.1)
    reconcile_seconds: float = _number(30.0, 0.1)
    reconcile_again_seconds: float = _number(1.0, 0.01)
    retry_base_seconds: float = _number(5.0, 0.01)
    retry_longest_seconds: float = _number(300.0, 0.01)
    after_cancel_seconds: float = _number(120.0, 0)
    busy_seconds: float = _number(1.0, 0.01)
    reap_seconds: float = _number(60.0, 0.1)
    flush_seconds: float = _number(3600.0, 1)
    dictionary_seconds: float = _number(28_800.0, 1)
    purge_hour: int = _number(3, 0)
    history_megabytes: float = _number(0.0, 0)
    virtual_nodes: int = _number(100, 1)
    commands_per_pass: int = _number(2_000, 1)
    most_started: int = _number(1_000, 1)


@dataclass(frozen=True)
class RunnerSettings:
    """What one process of `headwater serve` does with its machine."""

    address: str = ""
    workers: int = _number(0, 0)
    refresh_share: float = _number(0.6, 0)
    refresh_limit_seconds: float = _number(300.0, 0)
    purge_limit_seconds: float = _number(600.0, 0)
    build_limit_seconds: float = _number(0.0, 0)
    most_queued: int = _number(1_000, 1)
    busy_threshold: float = _number(0.8, 0)
    busy_step_seconds: float = _number(0.1, 0.001)
    busy_longest_seconds: float = _number(60.0, 0)
    watch_seconds: float = _number(1.0, 0.05)
    close_seconds: float = _number(30.0, 0)
    metrics_port: int = _number(0, 0)
    metrics_address: str = "127.0.0.1"
    log_format: str = "console"
    log_level: str = "info"
    log_file: str = ""
    log_megabytes: float = _number(10.0, 0.001)
    log_older: int = _number(4, 1)
    webhook: str = ""
