"""Views that move to one common frontier together."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.define.kind import Kind
from headwater.vocabulary.location import Location


@dataclass(frozen=True, kw_only=True)
class HandlerDef:
    """One CREATE HANDLER; `places` are where each of its views is named."""

    name: str
    display: str
    views: tuple[str, ...]
    places: tuple[Location, ...]
    text: str
    location: Location
    name_location: Location

    @property
    def kind(self) -> Kind:
        return Kind.HANDLER
