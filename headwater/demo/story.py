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
class Recomputed:
    """What the same view costs without Headwater."""

    seconds: float
    rows: int  # all of them are written


@dataclass(frozen=True)
class Refreshed:
    """A view was refreshed, and recomputed beside it on the same data."""

    number: int
    receipt: Receipt
    recomputed: Recomputed | None  # None where nothing had to be refreshed

    def to_json(self) -> dict[str, Any]:
        again = self.recomputed
        return {
            "round": self.number,
            "recompute_seconds": round(again.seconds, 4) if again else None,
            "recompute_rows": again.rows if again else None,
            **self.receipt.to_json(),
        }


@dataclass(frozen=True)
class Changed:
    """All rounds are over; what is left is to prove the views right."""

    rounds: int


@dataclass(frozen=True)
class Verified:
    """A view was compared with its query's result."""

    view: str
    is_equal: bool


Event = Made | Built | Began | Refreshed | Changed | Verified


@dataclass(frozen=True)
class Sum:
    """One view's refreshes beside its recomputes."""

    view: str
    techniques: tuple[str, ...]
    rows: int
    recomputed_rows: int
    seconds: float
    recompute_seconds: float
    is_equal: bool


@dataclass
class Story:
    """All that happened, in order."""

    folder: str
    events: list[Event] = field(default_factory=list)
    seconds: float = 0.0

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def sums(self) -> list[Sum]:
        """Per view, over all rounds in which it was also recomputed."""
        return [self._sum(verified) for verified in self.of(Verified)]

    def _sum(self, verified: Verified) -> Sum:
        mine = [r for r in self.of(Refreshed) if r.receipt.view == verified.view]
        both = [(r.receipt, r.recomputed) for r in mine if r.recomputed is not None]
        return Sum(
            verified.view,
            tuple(dict.fromkeys(r.receipt.technique.value for r in mine)),
            sum(receipt.rows_inserted + receipt.rows_deleted for receipt, _ in both),
            sum(again.rows for _, again in both),
            sum(receipt.seconds for receipt, _ in both),
            sum(again.seconds for _, again in both),
            verified.is_equal,
        )

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
