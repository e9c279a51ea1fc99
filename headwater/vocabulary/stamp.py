"""What a view's commit says about itself, in Delta's `userMetadata`.

The newest stamped commit tells everything there is to know about a view's content: the ledger can
be lost and is made again from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.location import Location
from headwater.vocabulary.technique import Technique

FORMAT = 1


@dataclass(frozen=True)
class Stamp:
    """The identity of one refresh and the frontier it moves the view to."""

    view: str
    attempt: str
    sequence: int
    definition: str  # fingerprint of the definition
    settings: str  # fingerprint of the session settings that results depend on
    frontier: Frontier
    technique: Technique
    base: int  # version of the view's table that the refresh started from; -1 for none
    compiled: str  # what Spark said about the query when it was compiled
    statement: str  # the CREATE statement, so that the view can be found without a ledger
    sources: Mapping[str, str]  # the CREATE statements of its sources
    places: Mapping[str, Location] = field(default_factory=dict)  # where those were written
    inserted: int | None = None  # rows that came and went; None where Delta's metrics tell
    deleted: int | None = None

    def to_json(self) -> str:
        return json.dumps(
            {
                "headwater": FORMAT,
                "view": self.view,
                "attempt": self.attempt,
                "sequence": self.sequence,
                "definition": self.definition,
                "settings": self.settings,
                "frontier": self.frontier.to_json(),
                "technique": self.technique.value,
                "base": self.base,
                "compiled": self.compiled,
                "statement": self.statement,
                "sources": dict(self.sources),
                "places": {name: [p.file, p.line, p.column] for name, p in self.places.items()},
                "inserted": self.inserted,
                "deleted": self.deleted,
            },
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, text: str | None) -> Stamp | None:
        """The stamp of a commit, or None if it is somebody else's."""
        value = _parsed(text)
        if value is None or value.get("headwater") != FORMAT:
            return None
        return cls(
            value["view"],
            value["attempt"],
            int(value["sequence"]),
            value["definition"],
            value["settings"],
            Frontier.from_json(value["frontier"]),
            Technique(value["technique"]),
            int(value["base"]),
            value["compiled"],
            value["statement"],
            value["sources"],
            {name: Location(*place) for name, place in value.get("places", {}).items()},
            value.get("inserted"),
            value.get("deleted"),
        )


def _parsed(text: str | None) -> dict[str, Any] | None:
    try:
        value = json.loads(text or "")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
