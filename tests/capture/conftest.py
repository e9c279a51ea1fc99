"""Delta logs to read: captured commits, logs written line by line, and real tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.capture.actions import Commit, commit_of
from headwater.capture.log import TableLog, open_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMMITS = Path(__file__).parent / "commits"
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def captured_commit(name: str, version: int = 5) -> Commit:
    """A commit that Delta 4.4 wrote for the operation the file is named after."""
    return commit_of(version, (COMMITS / f"{name}.json").read_bytes(), NOON)


class WrittenLog:
    """A table's log, written action by action in Delta's own format."""

    def __init__(self, folder: Path, table_id: str = "table-1") -> None:
        self.folder = folder
        self.path = folder / "_delta_log"
        self.path.mkdir(parents=True, exist_ok=True)
        self.version = -1
        self.table_id = table_id

    @property
    def log(self) -> TableLog:
        return open_log(str(self.folder))

    def create(self, columns: str = "id:long,v:integer", **configuration: str) -> int:
        feed = {"delta.enableChangeDataFeed": "true", **configuration}
        protocol = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
        return self.commit(protocol, self.metadata(columns, feed), operation="CREATE TABLE")

    def metadata(
        self, columns: str, configuration: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        on = {"delta.enableChangeDataFeed": "true"}
        fields = [
            {"name": name, "type": type_, "nullable": True, "metadata": {}}
            for name, type_ in (pair.split(":") for pair in columns.split(","))
        ]
        return {
            "metaData": {
                "id": self.table_id,
                "schemaString": json.dumps({"type": "struct", "fields": fields}),
                "partitionColumns": [],
                "configuration": dict(on if configuration is None else configuration),
            }
        }

    def commit(
        self,
        *actions: dict[str, Any],
        operation: str = "WRITE",
        minutes: float | None = None,
        **info: Any,
    ) -> int:
        """Append a version; `info` goes into its commitInfo."""
        self.version += 1
        moment = NOON + timedelta(minutes=self.version if minutes is None else minutes)
        told = {
            "timestamp": int(moment.timestamp() * 1000),
            "operation": operation,
            "txnId": f"{self.table_id}-{self.version}",
            **info,
        }
        lines = [{"commitInfo": told}, *actions]
        self.file(self.version).write_text("".join(json.dumps(line) + "\n" for line in lines))
        return self.version

    def append(self, name: str, rows: int = 10, **info: Any) -> int:
        return self.commit(self.add(name, rows), operationParameters={"mode": "Append"}, **info)

    def add(self, name: str, rows: int = 10, *, data_change: bool = True) -> dict[str, Any]:
        stats = json.dumps({"numRecords": rows})
        size = 100 * rows
        return {"add": {"path": name, "size": size, "dataChange": data_change, "stats": stats}}

    def remove(self, name: str, *, data_change: bool = True) -> dict[str, Any]:
        return {"remove": {"path": name, "size": 1000, "dataChange": data_change}}

    def checksum(
        self, *adds: dict[str, Any], columns: str = "id:long,v:integer", transaction: str = ""
    ) -> Path:
        """Write the newest version's checksum; without files, as Delta does for a big table."""
        value = {
            "txnId": transaction or f"{self.table_id}-{self.version}",
            "tableSizeBytes": 7,
            "numFiles": len(adds),
            "metadata": self.metadata(columns)["metaData"],
            "protocol": {"minReaderVersion": 1, "minWriterVersion": 2},
            "setTransactions": [{"appId": "app", "version": 4}],
            **({"allFiles": [add["add"] for add in adds]} if adds else {}),
        }
        file = self.path / f"{self.version:020d}.crc"
        file.write_text(json.dumps(value))
        return file

    def file(self, version: int) -> Path:
        return self.path / f"{version:020d}.json"


@pytest.fixture
def captured() -> Callable[[str], Commit]:
    return captured_commit


@pytest.fixture
def written(tmp_path: Path) -> WrittenLog:
    """An empty log to be written to."""
    return WrittenLog(tmp_path / "table")


@pytest.fixture(scope="session")
def write_log() -> type[WrittenLog]:
    """For tests that need several logs, or a log that is made again at its old place."""
    return WrittenLog


@pytest.fixture(scope="session")
def delta_spark(small_spark: SparkSession) -> SparkSession:
    """The Spark of all tests for tables of ten rows, under the name these tests know it by."""
    return small_spark
