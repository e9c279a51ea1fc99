"""Column types in Spark's spelling, and what counts as a change of a column."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from headwater.capture.actions import Commit
from headwater.capture.protocol import TableProtocol, refuse_unsupported
from headwater.capture.schema import (
    Field,
    TableMetadata,
    parse_metadata,
    schema_change,
    type_text,
)
from headwater.vocabulary.errors import SourceUnsupported

Captured = Callable[[str], Commit]


def table(*fields: Field, **facts: Any) -> TableMetadata:
    return TableMetadata("t", fields, **facts)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("long", "bigint"),
        ("integer", "int"),
        ("decimal(10,2)", "decimal(10,2)"),
        ("timestamp_ntz", "timestamp_ntz"),
        ({"type": "array", "elementType": "short"}, "array<smallint>"),
        ({"type": "map", "keyType": "string", "valueType": "byte"}, "map<string,tinyint>"),
        (
            {
                "type": "struct",
                "fields": [{"name": "a", "type": "long"}, {"name": "b c", "type": "string"}],
            },
            "struct<a:bigint,`b c`:string>",
        ),
    ],
)
def test_types_are_spelled_as_spark_does(given: Any, text: str) -> None:
    """Delta's type names become those Spark SQL reads, nested ones included."""
    assert type_text(given) == text


def test_a_collation_is_part_of_the_type() -> None:
    """Strings that compare otherwise are of another type."""
    field = {"name": "a", "type": "string", "metadata": {"__COLLATIONS": {"a": "icu.UNICODE_CI"}}}
    schema = json.dumps({"type": "struct", "fields": [field]})
    assert parse_metadata({"id": "t", "schemaString": schema}).schema[0].type_text == (
        "string collate UNICODE_CI"
    )


def test_column_changes_are_told_apart() -> None:
    """Added, dropped and retyped columns are told apart; a relaxed NOT NULL is none of them."""
    before = table(Field("a", "int"), Field("B", "int", nullable=False), Field("c", "int"))
    after = table(Field("a", "bigint"), Field("b", "int"), Field("d", "int"))
    change = schema_change(replace_physical(before), replace_physical(after))
    assert change.lost == {"a", "c"}
    assert change.added == {"d"}
    assert change.touches(frozenset({"B"})) == frozenset()
    assert change.touches(frozenset({"A", "D"})) == {"a", "d"}
    assert change.touches(None) == {"a", "c"}


def replace_physical(metadata: TableMetadata) -> TableMetadata:
    fields = (replace(f, physical_name=f.name.lower()) for f in metadata.schema)
    return replace(metadata, schema=tuple(fields))


def test_a_column_made_again_is_lost() -> None:
    """Dropped and added again under its old name, a column has other file columns."""
    before = table(Field("a", "int", physical_name="col-1"))
    after = table(Field("a", "int", physical_name="col-2"))
    assert schema_change(before, after).lost == {"a"}


def test_a_tightened_column_is_lost() -> None:
    """A column that becomes NOT NULL cannot be read from files written before."""
    before = table(Field("a", "int", physical_name="a"))
    after = table(Field("a", "int", nullable=False, physical_name="a"))
    assert schema_change(before, after).lost == {"a"}


def test_mapping_by_name_may_be_switched_on(captured: Captured) -> None:
    """Switching name mapping on keeps every file column; switching it off does not."""
    without = captured("append_merging_schema").metadata
    on, off = captured("mapping_on").metadata, captured("mapping_off").metadata
    assert without is not None
    assert on is not None
    assert off is not None
    assert schema_change(without, on).mapping_changed is False
    assert schema_change(without, on).lost == frozenset()
    assert schema_change(on, off).mapping_changed is True


def test_captured_schema_changes(captured: Captured) -> None:
    """ADD, RENAME, DROP COLUMN and type widening as Delta records them."""
    steps = ["mapping_on", "rename_column", "drop_column", "widen_column"]
    seen = [captured(name).metadata for name in steps]
    changes = [schema_change(a, b) for a, b in pairwise(seen) if a is not None and b is not None]
    assert [(sorted(c.lost), sorted(c.added)) for c in changes] == [
        (["extra2"], ["extra3"]),
        (["extra3"], []),
        (["extra"], []),
    ]


@pytest.mark.parametrize(
    ("protocol", "configuration"),
    [
        (TableProtocol(3, 7, frozenset({"catalogManaged"})), {}),
        (TableProtocol(1, 7, frozenset(), frozenset({"coordinatedCommits-preview"})), {}),
        (TableProtocol(1, 2), {"delta.coordinatedCommits.commitCoordinator-preview": "c"}),
        (TableProtocol(3, 7, frozenset({"deletionVectors", "tomorrow"})), {}),
        (TableProtocol(4, 7), {}),
    ],
)
def test_logs_that_are_not_the_whole_truth_are_refused(
    protocol: TableProtocol, configuration: dict[str, str]
) -> None:
    """Commits kept by a catalog and unknown reader features are refused, never guessed at."""
    with pytest.raises(SourceUnsupported):
        refuse_unsupported(protocol, table(configuration=configuration), "t")


def test_known_features_are_read(captured: Captured) -> None:
    """Writer features and the reader features of today's Delta are no obstacle."""
    for name in ("create_table", "mapping_on", "upgrade_protocol", "drop_feature"):
        protocol = captured(name).protocol
        assert protocol is not None
        refuse_unsupported(protocol, table(), "t")
