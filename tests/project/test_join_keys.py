"""Joins that a small change makes expensive are told of, and nothing more than that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwater.capture.log import open_log
from headwater.define.lowering.lower import lower
from headwater.project.join_keys import Arrangement, JoinKey, arrangement_of, join_keys, unclustered

CATALOG = {"orders": ("id", "customer", "amount"), "people": ("id", "name")}


def keys_of(sql: str) -> frozenset[JoinKey]:
    return join_keys(lower(sql, CATALOG).query.root)


def test_keys_are_found_through_derived_tables() -> None:
    """A join key that a derived table passes on is the source's own column."""
    sql = (
        "SELECT o.amount FROM orders o JOIN (SELECT id AS person FROM people WHERE id > 3) p "
        "ON o.customer = p.person"
    )
    assert keys_of(sql) == {JoinKey("orders", "customer"), JoinKey("people", "id")}


def test_computed_keys_are_nobodys_column() -> None:
    """A computed side of a join condition cannot be clustered by."""
    sql = "SELECT o.amount FROM orders o JOIN people p ON o.customer + 1 = p.id"
    assert keys_of(sql) == {JoinKey("people", "id")}


@pytest.mark.parametrize(
    ("files", "by", "warned"),
    [(40, frozenset(), True), (40, frozenset({"customer"}), False), (3, frozenset(), False)],
)
def test_only_large_unclustered_tables_are_told_of(
    files: int, by: frozenset[str], warned: bool
) -> None:
    """S57: missing clustering of a join key warns; a small or clustered table does not."""
    keys = keys_of("SELECT o.amount FROM orders o JOIN people p ON o.customer = p.id")
    found = unclustered(keys, {"orders": Arrangement(files, True, by)})
    assert found == ([("orders", ("customer",))] if warned else [])


def test_clustering_is_read_from_the_log(tmp_path: Path) -> None:
    """The clustering columns and the files come from the table's own log."""
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    columns = {"type": "struct", "fields": [_field("id"), _field("g")]}
    domain = {"clusteringColumns": [["g"]], "domainName": "delta.clustering"}
    features = {"writerFeatures": ["clustering", "domainMetadata"]}
    actions = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 7, **features}},
        {"metaData": {"id": "1", "schemaString": json.dumps(columns), "partitionColumns": []}},
        {
            "domainMetadata": {
                "domain": "delta.clustering",
                "configuration": json.dumps(domain),
                "removed": False,
            }
        },
        {"add": {"path": "a", "size": 1, "dataChange": True, "stats": '{"numRecords": 2}'}},
    ]
    (log / f"{0:020}.json").write_text("\n".join(map(json.dumps, actions)))
    found = arrangement_of(open_log(str(tmp_path / "t")))
    assert found == Arrangement(1, True, frozenset({"g"}))


def _field(name: str) -> dict[str, object]:
    return {"name": name, "type": "long", "nullable": True, "metadata": {}}
