"""What makes a view refresh by itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from headwater.define.intervals import interval_text


@dataclass(frozen=True)
class OnChange:
    """When a source has changed; views on one table move together and share one scan."""

    def __str__(self) -> str:
        return "ON CHANGE"


@dataclass(frozen=True)
class Greedy:
    """When a source has changed, in an iteration of its own, waiting for no other view."""

    def __str__(self) -> str:
        return "GREEDY"


@dataclass(frozen=True)
class Every:
    """At a fixed interval."""

    interval: timedelta

    def __str__(self) -> str:
        return f"EVERY {interval_text(self.interval)}"


@dataclass(frozen=True)
class Cron:
    """At the times of a five-field cron expression, by the clocks of a time zone."""

    expression: str
    time_zone: str = "UTC"

    def __str__(self) -> str:
        zone = "" if self.time_zone == "UTC" else f" TIME ZONE '{self.time_zone}'"
        return f"CRON '{self.expression}'{zone}"


@dataclass(frozen=True)
class Manual:
    """Only when asked."""

    def __str__(self) -> str:
        return "MANUAL"


Trigger = OnChange | Greedy | Every | Cron | Manual
