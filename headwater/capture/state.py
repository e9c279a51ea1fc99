"""A table's whole state at one version: from a checksum, a checkpoint, or commit by commit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from io import BytesIO
from typing import Any

from headwater.capture.actions import Action, actions_of, live_rows
from headwater.capture.listing import Checkpoint
from headwater.capture.protocol import TableProtocol, parse_protocol
from headwater.capture.schema import TableMetadata, parse_metadata
from headwater.capture.storage import LogFiles

_MAPS = ("configuration", "partitionValues", "tags")

FileKey = tuple[str, str]
"""A data file and its deletion vector: together they name one set of rows."""


@dataclass(frozen=True)
class TableStatistics:
    """How big a table is; rows are unknown where its files carry no statistics."""

    rows: int | None
    bytes: int
    files: int
    values: Mapping[str, int] = field(default_factory=dict, compare=False)  # column -> at most


@dataclass(frozen=True)
class Checksum:
    """The state Delta writes beside a commit, tied to it by the transaction's id."""

    transaction_id: str | None
    metadata: TableMetadata
    protocol: TableProtocol
    transactions: Mapping[str, int] | None  # None where the writer left them out
    bytes: int
    files: int
    live: tuple[Action, ...] | None  # None for a table of many files
    domains: tuple[Action, ...] | None = None  # None where the writer left them out

    @property
    def statistics(self) -> TableStatistics:
        rows = None if self.live is None else LiveFiles.of(self.live).statistics.rows
        return TableStatistics(rows, self.bytes, self.files)


def parse_checksum(text: bytes) -> Checksum | None:
    """Read a `.crc`; one that is cut short or from an older writer is as good as none."""
    try:
        value = json.loads(text)
        known = value.get("setTransactions")
        live, domains = value.get("allFiles"), value.get("domainMetadata")
        return Checksum(
            transaction_id=value.get("txnId"),
            metadata=parse_metadata(value["metadata"]),
            protocol=parse_protocol(value["protocol"]),
            transactions=None if known is None else _transactions(known),
            bytes=int(value["tableSizeBytes"]),
            files=int(value["numFiles"]),
            live=None if live is None else tuple(live),
            domains=None if domains is None else tuple(domains),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


@dataclass
class LiveFiles:
    """The files a table consists of, kept up commit by commit."""

    files: dict[FileKey, Action] = field(default_factory=dict)

    @classmethod
    def of(cls, adds: Iterable[Action]) -> LiveFiles:
        found = cls()
        for add in adds:
            found.apply("add", add)
        return found

    def apply(self, kind: str, action: Action) -> None:
        if kind == "add":
            self.files[_key(action)] = action
        elif kind == "remove":
            self.files.pop(_key(action), None)

    @property
    def adds(self) -> tuple[Action, ...]:
        return tuple(self.files.values())

    @property
    def statistics(self) -> TableStatistics:
        counts = [live_rows(add) for add in self.files.values()]
        told = [rows for rows in counts if rows is not None]
        rows = sum(told) if len(told) == len(counts) else None
        size = sum(int(add.get("size") or 0) for add in self.files.values())
        return TableStatistics(rows, size, len(counts))


def checkpoint_actions(
    files: LogFiles, checkpoint: Checkpoint, *kinds: str
) -> Iterator[tuple[str, Action]]:
    """The actions of the given kinds; a checkpoint's side files are read only for `add`."""
    wanted = {*kinds, "sidecar"} if "add" in kinds else set(kinds)
    for name in checkpoint.names:
        for kind, action in _rows(files, name, wanted):
            if kind == "sidecar":
                side = str(action["path"]).rpartition("/")[2]
                yield from _rows(files, f"_sidecars/{side}", wanted)
            else:
                yield kind, action


def _rows(files: LogFiles, name: str, kinds: set[str]) -> Iterator[tuple[str, Action]]:
    text = files.read(name)
    if text is None:
        raise FileNotFoundError(name)
    if name.endswith(".json"):
        yield from ((kind, action) for kind, action in actions_of(text) if kind in kinds)
        return
    yield from _parquet_rows(text, kinds)


def _parquet_rows(text: bytes, kinds: set[str]) -> Iterator[tuple[str, Action]]:
    file = import_module("pyarrow.parquet").ParquetFile(BytesIO(text))  # slow to import
    for kind in sorted(kinds & set(file.schema_arrow.names)):
        table = file.read(columns=[kind])
        column = table.column(kind)
        for value in column.filter(column.is_valid()).to_pylist():
            yield kind, _with_maps(value)


def _with_maps(action: dict[str, Any]) -> Action:
    """Arrow gives maps as lists of pairs; an action read from JSON has dictionaries."""
    maps = {k: dict(action[k]) for k in _MAPS if isinstance(action.get(k), list)}
    return {**action, **maps} if maps else action


def _key(action: Action) -> FileKey:
    vector = action.get("deletionVector") or {}
    place = vector.get("pathOrInlineDv")
    return str(action["path"]), "" if place is None else f"{place}@{vector.get('offset')}"


def _transactions(known: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    return {str(t["appId"]): int(t["version"]) for t in known}
