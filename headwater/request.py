"""How a refresh was asked for."""

from __future__ import annotations

from dataclasses import dataclass

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
    manual: bool = True

    def __post_init__(self) -> None:
        if self.technique in _NOT_TO_BE_ASKED_FOR:
            why = _NOT_TO_BE_ASKED_FOR[self.technique]
            raise TechniqueRefused(f"{self.technique} cannot be asked for: {why}")

    @property
    def forced(self) -> Technique | None:
        return Technique.REBUILD if self.full else self.technique

    @property
    def is_rebuild(self) -> bool:
        """Asks for work even where nothing has changed; no other technique does."""
        return self.forced is Technique.REBUILD
