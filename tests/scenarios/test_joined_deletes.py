"""Deletes and moves through joins, filters and dictionaries."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenarios.lake import INCREMENTAL, Lake

MAIN = "id INT, note STRING, inn_id INT, lef_id INT, open BOOLEAN, size INT"
INN, LEF, DICT = "id INT, label STRING", "id INT, extra STRING", "code STRING, word STRING"

VIEWS = {
    "report": """SELECT m.id, m.note, i.label, l.extra, d.word
        FROM main m JOIN inn i ON m.inn_id = i.id
        LEFT JOIN lef l ON m.lef_id = l.id
        LEFT JOIN dict d ON d.code = 'fixed'
        WHERE m.open""",
    "per_label": """SELECT i.label, count(*) AS n, sum(m.size) AS size
        FROM main m JOIN inn i ON m.inn_id = i.id WHERE m.open GROUP BY i.label""",
    "orphans": "SELECT i.id, i.label, m.id AS main FROM inn i LEFT JOIN main m ON m.inn_id = i.id",
}
CHANGES: dict[str, list[dict[str, Any]]] = {
    "S60 main": [{"table": "main", "delete": "id = 1"}],
    "S60 inner-joined": [{"table": "inn", "delete": "id = 20"}],
    "S60 left-joined and dictionary": [
        {"table": "lef", "delete": "id = 200"},
        {"table": "dict", "delete": "code = 'fixed'"},
    ],
    "S60 inner-joined comes back with its dictionary": [
        {"table": "inn", "ddl": INN, "insert": [(20, "again")]},
        {"table": "dict", "ddl": DICT, "insert": [("fixed", "one"), ("fixed", "two")]},
    ],
    "S61 row leaves WHERE": [{"table": "main", "update": {"open": "false"}, "where": "id = 2"}],
    "S61 row enters WHERE with NULL": [
        {"table": "main", "update": {"open": "true"}, "where": "id = 4"},
        {"table": "main", "update": {"open": "NULL"}, "where": "id = 5"},
    ],
    "S61 child moves between parents": [
        {"table": "main", "update": {"inn_id": "10", "lef_id": "100"}, "where": "id = 3"},
        {"table": "main", "update": {"inn_id": "NULL"}, "where": "id = 6"},
    ],
}


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    lake = shared_lake
    rows = [
        (1, "a", 10, 100, True, 5),
        (2, "b", 10, 200, True, 6),
        (3, "c", 20, 200, True, 7),
        (4, "d", 30, None, False, 8),
        (5, "e", 30, 999, True, 9),
        (6, "f", 30, 100, True, None),
    ]
    lake.source("main", MAIN, rows)
    lake.source("inn", INN, [(10, "x"), (20, "y"), (30, "x"), (40, "z")])
    lake.source("lef", LEF, [(100, "p"), (200, "q")])
    lake.source("dict", DICT, [("fixed", "w"), ("other", "o")])
    for name, query in VIEWS.items():
        lake.view(name, query)
    return lake


@pytest.mark.parametrize("change", CHANGES)
def test_deletes_and_moves(lake: Lake, change: str) -> None:
    """S60, S61: deletes from any side, rows that leave WHERE, children that change parents."""
    for action in CHANGES[change]:
        lake.change(action["table"], **action)
    receipts = lake.refresh()
    assert {v: r.technique for v, r in receipts.items() if r.technique not in INCREMENTAL} == {}
    lake.assert_right(verify=VIEWS if change == list(CHANGES)[-1] else ())
