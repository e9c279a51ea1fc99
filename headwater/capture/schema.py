"""A Delta table's columns and settings, and what separates two versions of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headwater.vocabulary.names import CHAR_NOTE, quoted

_PRIMITIVES = {
    "long": "bigint",
    "integer": "int",
    "short": "smallint",
    "byte": "tinyint",
    "null": "void",
}
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PHYSICAL_NAME = "delta.columnMapping.physicalName"
_CHAR = re.compile(r"\bchar\(")
_COLLATIONS = "__COLLATIONS"


@dataclass(frozen=True)
class Field:
    """One column; the physical name is the one inside the data files."""

    name: str
    type_text: str
    nullable: bool = True
    physical_name: str = ""
    is_padded: bool = False  # CHAR(n), which Delta keeps as a string with a note


@dataclass(frozen=True)
class TableMetadata:
    """A table's identity, columns and properties at one version."""

    table_id: str
    schema: tuple[Field, ...]
    partition_columns: tuple[str, ...] = ()
    configuration: Mapping[str, str] = field(default_factory=dict, hash=False)
    created_ms: int | None = None
    name: str | None = None
    description: str | None = None
    schema_text: str = field(default="", compare=False, repr=False)

    @property
    def feed_enabled(self) -> bool:
        return self.configuration.get("delta.enableChangeDataFeed", "false").lower() == "true"

    @property
    def vectors_enabled(self) -> bool | None:
        """Whether rows may be marked as deleted; None where nobody has said so."""
        said = self.configuration.get("delta.enableDeletionVectors")
        return None if said is None else said.lower() == "true"

    @property
    def mapping_mode(self) -> str:
        return self.configuration.get("delta.columnMapping.mode", "none").lower()

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.schema)

    def action(self) -> dict[str, Any]:
        """What a reader needs of it, as a commit holds it."""
        return {
            "id": self.table_id,
            "format": {"provider": "parquet", "options": {}},
            "schemaString": self.schema_text,
            "partitionColumns": list(self.partition_columns),
            "configuration": dict(self.configuration),
        }


@dataclass(frozen=True)
class SchemaChange:
    """What became of a table's columns; names are in lower case, as Spark compares them."""

    added: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()  # dropped, renamed, retyped, or kept in other file columns
    mapping_changed: bool = False
    partitioning_changed: bool = False

    def touches(self, used: frozenset[str] | None) -> frozenset[str]:
        """The columns a reader of `used` would notice; None stands for all that were there."""
        if used is None:
            return self.lost
        return (self.lost | self.added) & {name.lower() for name in used}

    def __or__(self, other: SchemaChange) -> SchemaChange:
        return SchemaChange(
            self.added | other.added,
            self.lost | other.lost,
            self.mapping_changed or other.mapping_changed,
            self.partitioning_changed or other.partitioning_changed,
        )


def parse_metadata(action: Mapping[str, Any]) -> TableMetadata:
    """A `metaData` action, as commits, checksums and checkpoints hold it."""
    text = action.get("schemaString") or '{"type": "struct", "fields": []}'
    schema = json.loads(text)
    return TableMetadata(
        table_id=str(action["id"]),
        schema=tuple(_field(f) for f in schema["fields"]),
        partition_columns=tuple(action.get("partitionColumns") or ()),
        configuration=dict(action.get("configuration") or {}),
        created_ms=action.get("createdTime"),
        name=action.get("name"),
        description=action.get("description"),
        schema_text=text,
    )


def schema_change(before: TableMetadata, after: TableMetadata) -> SchemaChange:
    """Compare two metadata actions of one table."""
    old = {f.name.lower(): f for f in before.schema}
    new = {f.name.lower(): f for f in after.schema}
    return SchemaChange(
        added=frozenset(new.keys() - old.keys()),
        lost=frozenset(name for name, f in old.items() if not _kept(f, new.get(name))),
        mapping_changed=_remapped(before, after),
        partitioning_changed=before.partition_columns != after.partition_columns,
    )


def type_text(value: str | Mapping[str, Any], collation: str = "") -> str:
    """A type of Delta's JSON schema in Spark's short spelling, such as `array<bigint>`."""
    if isinstance(value, str):
        text = _PRIMITIVES.get(value, value)
        return f"{text} collate {collation}" if collation else text
    return _nested_text(value)


def _nested_text(value: Mapping[str, Any]) -> str:
    kind = value["type"]
    if kind == "array":
        return f"array<{type_text(value['elementType'])}>"
    if kind == "map":
        return f"map<{type_text(value['keyType'])},{type_text(value['valueType'])}>"
    if kind == "struct":
        inner = ",".join(f"{_member(f['name'])}:{_field(f).type_text}" for f in value["fields"])
        return f"struct<{inner}>"
    return json.dumps(value, sort_keys=True)


def _field(value: Mapping[str, Any]) -> Field:
    name, facts = str(value["name"]), value.get("metadata") or {}
    collation = str((facts.get(_COLLATIONS) or {}).get(name) or "").rpartition(".")[2]
    return Field(
        name=name,
        type_text=type_text(value["type"], collation),
        nullable=bool(value.get("nullable", True)),
        physical_name=str(facts.get(_PHYSICAL_NAME) or name),
        is_padded=_CHAR.search(str(facts.get(CHAR_NOTE) or "")) is not None,
    )


def _member(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else quoted(name)


def _kept(before: Field, after: Field | None) -> bool:
    """Whether old files still answer for the column; a new NOT NULL makes Delta refuse them."""
    return (
        after is not None
        and before.type_text == after.type_text
        and before.physical_name == after.physical_name
        and (after.nullable or not before.nullable)
    )


def _remapped(before: TableMetadata, after: TableMetadata) -> bool:
    """Switching name mapping on keeps every file column; any other switch moves them."""
    modes = (before.mapping_mode, after.mapping_mode)
    return modes[0] != modes[1] and modes != ("none", "name")
