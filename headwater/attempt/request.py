"""How a refresh was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater.vocabulary.errors import TechniqueRefused
from headwater.vocabulary.technique import Technique

_NOT_TO_BE_ASKED_FOR = {
    Technique.SKIP: "it is what happens where nothing has changed",
    Technique.REPLACE: "this version does not carry it out",
}


@dataclass(frozen=True)
class Request:
    """What the caller wants of one refresh."""

    technique: Technique | None = None
    full: bool = False
    building: bool = False  # first build or redefinition: the view need not be ready
    dictionaries: bool = True  # BATCH sources go to their newest version like all others
    manual: bool = True
    job: str | None = None  # which one asked; nobody but a runner has one
    due: datetime | None = None  # when it should have begun
    ends_at: datetime | None = None  # when the job that asked is stopped
    at: datetime | None = None  # what the clock tells all views of one refresh; None: the time now

    def __post_init__(self) -> None:
        if self.technique in _NOT_TO_BE_ASKED_FOR:
            why = _NOT_TO_BE_ASKED_FOR[self.technique]
            raise TechniqueRefused(f"{self.technique} cannot be asked for: {why}")

    @property
    def forced(self) -> Technique | None:
        return Technique.REBUILD if self.full else self.technique

    def of_an_ancestor(self) -> Request:
        """What is refreshed because a view that was asked for reads it goes its own way."""
        return Request(manual=self.manual, at=self.at, ends_at=self.ends_at)

    def delay(self, now: datetime) -> float | None:
        """How late it begins; None where nobody waited for a certain moment."""
        return None if self.due is None else max(0.0, (now - self.due).total_seconds())

    @property
    def moves_dictionaries(self) -> bool:
        """What is computed anew is computed from what there is now."""
        return self.dictionaries or self.building or self.is_rebuild

    @property
    def is_rebuild(self) -> bool:
        """Asks for work even where nothing has changed; no other technique does."""
        return self.forced is Technique.REBUILD
