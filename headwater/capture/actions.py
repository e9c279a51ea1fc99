"""One commit of a Delta log, summed up: what it did, how much, and who says so."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from headwater.capture.protocol import TableProtocol, parse_protocol
from headwater.capture.schema import TableMetadata, parse_metadata

Action = Mapping[str, Any]
"""One line of a commit: a kind (`add`, `remove`, `cdc`, ...) and its content."""

_RECORDS = re.compile(r'"numRecords"\s*:\s*(\d+)')


@dataclass(frozen=True)
class FileSummary:
    """The files of one kind that a commit names."""

    count: int = 0
    bytes: int = 0
    rows: int | None = 0  # None where a file tells no row count
    changing: int = 0  # how many of them change the table's rows
    with_deletion_vector: int = 0

    @property
    def data_change(self) -> bool:
        return self.changing > 0


@dataclass(frozen=True)
class Commit:
    """A version of a table, without the names of its files."""

    version: int
    timestamp: datetime
    operation: str = ""  # empty where the writer left no commitInfo
    operation_parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    operation_metrics: Mapping[str, str] = field(default_factory=dict, hash=False)
    user_metadata: str | None = None
    adds: FileSummary = FileSummary()
    removes: FileSummary = FileSummary()
    cdc: FileSummary = FileSummary()
    metadata: TableMetadata | None = None
    protocol: TableProtocol | None = None
    transactions: Mapping[str, int] = field(default_factory=dict, hash=False)
    transaction_id: str | None = None

    @property
    def cdc_files(self) -> int:
        return self.cdc.count

    def metric(self, name: str) -> int | None:
        """A number the writer reported, if it did."""
        value = self.operation_metrics.get(name)
        return int(value) if value is not None and str(value).isdigit() else None


def actions_of(text: bytes) -> Iterator[tuple[str, Action]]:
    """The lines of a commit file as (kind, content)."""
    for line in text.splitlines():
        if line.strip():
            yield from ((k, content) for k, content in json.loads(line).items() if content)


def commit_of(version: int, text: bytes, modified: datetime) -> Commit:
    """Read a commit file; its own time where it tells one, else the file's."""
    grouped: dict[str, list[Action]] = {}
    for kind, content in actions_of(text):
        grouped.setdefault(kind, []).append(content)
    info = _last(grouped, "commitInfo") or {}
    metadata, protocol = _last(grouped, "metaData"), _last(grouped, "protocol")
    return Commit(
        version=version,
        timestamp=_time(info, modified),
        operation=str(info.get("operation") or ""),
        operation_parameters=info.get("operationParameters") or {},
        operation_metrics=info.get("operationMetrics") or {},
        user_metadata=info.get("userMetadata"),
        adds=summed(grouped.get("add", ())),
        removes=summed(grouped.get("remove", ())),
        cdc=summed(grouped.get("cdc", ())),
        metadata=parse_metadata(metadata) if metadata else None,
        protocol=parse_protocol(protocol) if protocol else None,
        transactions={t["appId"]: int(t["version"]) for t in grouped.get("txn", ())},
        transaction_id=info.get("txnId"),
    )


def summed(files: Iterable[Action]) -> FileSummary:
    """Count files, bytes and rows; one file without a row count leaves the sum unknown."""
    count = size = changing = vectors = 0
    rows: int | None = 0
    for file in files:
        count += 1
        size += int(file.get("size") or 0)
        changing += bool(file.get("dataChange", True))
        vectors += file.get("deletionVector") is not None
        told = live_rows(file)
        rows = None if rows is None or told is None else rows + told
    return FileSummary(count, size, rows, changing, vectors)


def live_rows(file: Action) -> int | None:
    """Rows of a file that its deletion vector leaves, if its statistics tell."""
    found = _RECORDS.search(file.get("stats") or "")
    if found is None:
        return None
    vector = file.get("deletionVector") or {}
    return int(found.group(1)) - int(vector.get("cardinality") or 0)


def _last(grouped: Mapping[str, list[Action]], kind: str) -> Action | None:
    found = grouped.get(kind)
    return found[-1] if found else None


def _time(info: Action, modified: datetime) -> datetime:
    told = info.get("inCommitTimestamp") or info.get("timestamp")
    return modified if told is None else datetime.fromtimestamp(int(told) / 1000, UTC)
