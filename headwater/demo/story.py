"""What the demo tells while it runs, and what it has found in the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headwater.vocabulary.receipt import Receipt


@dataclass(frozen=True)
class Made:
    """The tables are there."""

    rows: dict[str, int]
    seconds: float


@dataclass(frozen=True)
class Built:
    """A view has its first content."""

    receipt: Receipt


@dataclass(frozen=True)
class Began:
    """A round's changes are committed."""

    number: int
    title: str
    statements: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Refreshed:
    """A view was refreshed, and recomputed beside it on the same data."""

    number: int
    receipt: Receipt
    recompute_seconds: float | None  # None where nothing had to be refreshed

    def to_json(self) -> dict[str, Any]:
        return {
            "round": self.number,
            "recompute_seconds": self.recompute_seconds,
            **self.receipt.to_json(),
        }


@dataclass(frozen=True)
class Verified:
    """A view was compared with its query's result."""

    view: str
    is_equal: bool


Event = Made | Built | Began | Refreshed | Verified


@dataclass
class Story:
    """All that happened, in order."""

    folder: str
    events: list[Event] = field(default_factory=list)
    seconds: float = 0.0

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def is_equal(self) -> bool:
        return all(event.is_equal for event in self.of(Verified))

    def to_json(self) -> dict[str, Any]:
        return {
            "folder": self.folder,
            "seconds": round(self.seconds, 3),
            "tables": {name: n for made in self.of(Made) for name, n in made.rows.items()},
            "builds": [built.receipt.to_json() for built in self.of(Built)],
            "refreshes": [refreshed.to_json() for refreshed in self.of(Refreshed)],
            "verified": {found.view: found.is_equal for found in self.of(Verified)},
        }
