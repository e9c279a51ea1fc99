"""A job's settings, as its row keeps them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any

from headwater.control.triggers import (
    Downstream,
    Single,
    TargetLag,
    Together,
    Trigger,
    follows_commits,
)
from headwater.define.trigger import Cron, Every, Greedy, Manual, OnChange


@dataclass(frozen=True)
class Spec:
    """What makes a job run, what it follows, when it is late, and who goes first.

    `sources` are the tables whose commits make it run; `views` are those of a job that is about
    several: a handler's, or the one for dictionaries.
    """

    trigger: Trigger
    sources: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    priority: int = 0
    warn_after: timedelta | None = None
    overdue_after: timedelta | None = None

    @property
    def triggers(self) -> tuple[Single, ...]:
        return self.trigger.triggers if isinstance(self.trigger, Together) else (self.trigger,)

    @property
    def follows_commits(self) -> bool:
        return follows_commits(self.trigger)

    def to_text(self) -> str:
        """The settings as text; equal settings are equal texts."""
        value = {
            "trigger": _trigger_json(self.trigger),
            "sources": list(self.sources),
            "views": list(self.views),
            "priority": self.priority,
            "warn_after": _seconds(self.warn_after),
            "overdue_after": _seconds(self.overdue_after),
        }
        return json.dumps(value, sort_keys=True, separators=(",", ":"))


@lru_cache(maxsize=200_000)
def read_spec(text: str) -> Spec:
    """The settings that `to_text` wrote down."""
    value = json.loads(text)
    return Spec(
        _trigger(value["trigger"]),
        tuple(value["sources"]),
        tuple(value["views"]),
        value["priority"],
        _interval(value["warn_after"]),
        _interval(value["overdue_after"]),
    )


def _trigger_json(trigger: Trigger) -> dict[str, Any]:
    if isinstance(trigger, Together):
        return {"any": [_trigger_json(each) for each in trigger.triggers]}
    if isinstance(trigger, Every):
        return {"every": trigger.interval.total_seconds()}
    if isinstance(trigger, TargetLag):
        return {"lag": trigger.interval.total_seconds()}
    if isinstance(trigger, Cron):
        return {"cron": trigger.expression, "zone": trigger.time_zone}
    return {"when": type(trigger).__name__}


_PLAIN: Mapping[str, Callable[[], Single]] = {
    kind.__name__: kind for kind in (OnChange, Greedy, Manual, Downstream)
}


def _trigger(value: Mapping[str, Any]) -> Trigger:
    if "any" in value:
        return Together(tuple(_single(each) for each in value["any"]))
    return _single(value)


def _single(value: Mapping[str, Any]) -> Single:
    if "every" in value:
        return Every(timedelta(seconds=value["every"]))
    if "lag" in value:
        return TargetLag(timedelta(seconds=value["lag"]))
    if "cron" in value:
        return Cron(value["cron"], value["zone"])
    return _PLAIN[value["when"]]()


def _seconds(interval: timedelta | None) -> float | None:
    return None if interval is None else interval.total_seconds()


def _interval(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)
