"""Which Delta features leave the log readable as it lies in the folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headwater.capture.schema import TableMetadata
from headwater.vocabulary.errors import SourceUnsupported

_HARMLESS = frozenset(
    {
        "columnMapping",
        "deletionVectors",
        "timestampNtz",
        "typeWidening",
        "typeWidening-preview",
        "v2Checkpoint",
        "vacuumProtocolCheck",
        "variantType",
        "variantType-preview",
        "variantShredding",
        "variantShredding-preview",
        "geospatial",
        "geospatial-preview",
    }
)
"""Features readers must know; these change data files or checkpoints, not what a commit says."""

_ELSEWHERE = frozenset({"catalogManaged", "catalogOwned-preview", "coordinatedCommits-preview"})
"""With these, the newest commits may lie in a catalog and not in the folder."""

_NEWEST_READER = 3
_NAMING_WRITER = 7


@dataclass(frozen=True)
class TableProtocol:
    """What a reader or writer of the table must be able to do."""

    reader_version: int = 1
    writer_version: int = 2
    reader_features: frozenset[str] = frozenset()
    writer_features: frozenset[str] = frozenset()

    def action(self) -> dict[str, Any]:
        """As a commit holds it; only the newest versions name features."""
        told: dict[str, Any] = {
            "minReaderVersion": self.reader_version,
            "minWriterVersion": self.writer_version,
        }
        if self.reader_version >= _NEWEST_READER:
            told["readerFeatures"] = sorted(self.reader_features)
        if self.writer_version >= _NAMING_WRITER:
            told["writerFeatures"] = sorted(self.writer_features)
        return told


def parse_protocol(action: Mapping[str, Any]) -> TableProtocol:
    """A `protocol` action."""
    return TableProtocol(
        reader_version=int(action.get("minReaderVersion") or 1),
        writer_version=int(action.get("minWriterVersion") or 1),
        reader_features=frozenset(action.get("readerFeatures") or ()),
        writer_features=frozenset(action.get("writerFeatures") or ()),
    )


def refuse_unsupported(protocol: TableProtocol, metadata: TableMetadata, location: str) -> None:
    """Raise rather than read a log that may be only a part of the truth."""
    elsewhere = _ELSEWHERE & (protocol.reader_features | protocol.writer_features)
    if elsewhere or _has_coordinator(metadata):
        named = ", ".join(sorted(elsewhere)) or "a commit coordinator"
        raise SourceUnsupported(
            f"the table's commits are kept by a catalog ({named})", where=location
        )
    unknown = protocol.reader_features - _HARMLESS
    if unknown or protocol.reader_version > _NEWEST_READER:
        named = ", ".join(sorted(unknown)) or f"reader version {protocol.reader_version}"
        raise SourceUnsupported(f"the table asks its readers for {named}", where=location)


def _has_coordinator(metadata: TableMetadata) -> bool:
    prefix = "delta.coordinatedCommits.commitCoordinator"
    return any(key.startswith(prefix) and value for key, value in metadata.configuration.items())
