"""Delta tables written and read without Spark: a commit takes milliseconds, not seconds.

It is also a second opinion: what Headwater and Spark wrote is read back by another implementation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa

FEED = {"delta.enableChangeDataFeed": "true"}
_FIELD = re.compile(r"\s*(\w+)\s+(\w+)(?:\((\d+)\s*,\s*(\d+)\))?\s*(?:,|$)")
_TYPES = {
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "STRING": pa.string(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
}


def schema_of(ddl: str) -> pa.Schema:
    """`id INT, amount DECIMAL(10,2)` as Arrow has it."""
    found = []
    for name, type_, precision, scale in _FIELD.findall(ddl):
        is_decimal = type_.upper() == "DECIMAL"
        arrow = pa.decimal128(int(precision), int(scale)) if is_decimal else _TYPES[type_.upper()]
        found.append(pa.field(name, arrow))
    return pa.schema(found)


def write(
    path: str,
    ddl: str,
    rows: Iterable[tuple[Any, ...]],
    mode: str = "error",
    **properties: str,
) -> None:
    """One commit; a new table has its change feed on."""
    schema = schema_of(ddl)
    given = [dict(zip(schema.names, row, strict=True)) for row in rows]
    table = pa.Table.from_pylist(given, schema=schema)
    told = {"configuration": {**FEED, **properties}} if mode == "error" else {}
    deltalake.write_deltalake(path, table, mode=mode, **told)  # type: ignore[call-overload]


def change(path: str, action: dict[str, Any]) -> None:
    """One small change: `{"insert": [..], "ddl": ".."}`, `{"update": {..}, "where": ".."}` or
    `{"delete": ".."}`.
    """
    if "insert" in action:
        write(path, action["ddl"], action["insert"], mode="append")
    elif "update" in action:
        deltalake.DeltaTable(path).update(updates=action["update"], predicate=action["where"])
    else:
        deltalake.DeltaTable(path).delete(action["delete"])


def read(path: str, version: int | None = None) -> pa.Table:
    """A table's rows at a version."""
    table = deltalake.DeltaTable(path, version=version)
    if "deletionVectors" not in (table.protocol().reader_features or ()):
        return table.to_pyarrow_table()
    return pa.table(deltalake.QueryBuilder().register("t", table).execute("SELECT * FROM t"))


def log_files(path: str) -> list[Path]:
    """The commits that are in the log, oldest first."""
    return sorted(p for p in Path(path, "_delta_log").glob("*.json") if p.stem.isdigit())


def files(path: str) -> list[str]:
    """The data files of the newest version, as the log names them."""
    return list(deltalake.DeltaTable(path).get_add_actions().column("path").to_pylist())
