"""Something outside that a view's changes are handed on to."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from headwater.define.kind import Kind
from headwater.vocabulary.location import Location


class ConsumerType(StrEnum):
    """What a consumer writes to."""

    FULLTEXT = "fulltext"
    VECTOR = "vector"
    POSTGRES = "postgres"
    DELTA = "delta"
    PYTHON = "python"


@dataclass(frozen=True)
class SharedScan:
    """The default trigger: consumers of one table that are level share one scan."""


@dataclass(frozen=True)
class OwnScan:
    """GREEDY: an iteration of its own each time."""


@dataclass(frozen=True)
class Periodic:
    """PERIODIC: when the watermark is an interval old; shared ones of one interval together."""

    interval: timedelta
    shared: bool


ConsumerTrigger = SharedScan | OwnScan | Periodic
OptionValue = str | int | float | bool


@dataclass(frozen=True, kw_only=True)
class ConsumerDef:
    """One CREATE CONSUMER; `view_location` is where its view is named."""

    name: str
    display: str
    view: str
    view_location: Location
    type: ConsumerType
    options: tuple[tuple[str, OptionValue], ...] = ()
    trigger: ConsumerTrigger = field(default_factory=SharedScan)
    priority: int = 0
    start_from_now: bool = False
    text: str
    location: Location
    name_location: Location

    @property
    def kind(self) -> Kind:
        return Kind.CONSUMER
