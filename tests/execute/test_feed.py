"""A window of the log read from its files has the very rows that Delta's own feed has."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from headwater.capture.log import open_log
from headwater.execute import feed
from headwater.execute.isolated import isolated
from headwater.plan.steps import ReadChanges
from headwater.plan.stored import StoredTable

CHANGES = (
    "INSERT INTO {t} VALUES (10, 'a', 1.5), (11, 'c', NULL)",
    "UPDATE {t} SET x = x + 1 WHERE id < 3",
    "DELETE FROM {t} WHERE p = 'b'",
    "INSERT INTO {t} VALUES (20, 'b', 2.5), (20, 'b', 2.5)",
    """MERGE INTO {t} USING (SELECT explode(array(1, 20, 30)) AS id) s ON {t}.id = s.id
    WHEN MATCHED AND {t}.id = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET x = 0
    WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, 'd')""",
    "OPTIMIZE {t}",
    "DELETE FROM {t} WHERE id = 10",
)
TABLES = {
    "partitioned": ("PARTITIONED BY (p)", "'delta.enableDeletionVectors' = 'false'"),
    "deletion vectors": ("", "'delta.enableDeletionVectors' = 'true'"),
    "column mapping": ("", "'delta.columnMapping.mode' = 'name'"),
}
ASKED = {"column mapping"}
"""Where Delta is asked for every window."""


@pytest.mark.parametrize("name", TABLES)
def test_it_is_deltas_own(spark, tmp_path: Path, monkeypatch, name: str) -> None:
    session, path = isolated(spark), str(tmp_path / "t")
    table, (layout, properties) = f"delta.`{path}`", TABLES[name]
    properties = f"'delta.enableChangeDataFeed' = 'true', {properties}"
    session.sql(
        f"CREATE TABLE {table} (id INT, p STRING, x DOUBLE) USING delta {layout} "
        f"TBLPROPERTIES ({properties})"
    )
    rows = "SELECT id, IF(id % 2 = 0, 'a', 'b') AS p, id * 0.5 AS x FROM range(8)"
    session.sql(f"INSERT INTO {table} {rows}")
    for change in CHANGES:
        session.sql(change.format(t=table))
    latest = open_log(path).latest_version()
    original, asked = feed._feed, []

    def counted(*arguments):
        asked.append(arguments[2])
        return original(*arguments)

    monkeypatch.setattr(feed, "_feed", counted)
    stored = StoredTable(path, {})
    windows = [(0, latest), *((after, after + 1) for after in range(latest))]
    for after, up_to in windows:
        kind = {"inserts_only": False, "has_feed": True}
        step = ReadChanges("c", "t", after, up_to, ("id", "p", "x"), **kind)
        own = _bag(original(session, stored, step), feed._WEIGHT)
        assert _bag(*feed.feed_rows(session, stored, step)) == own, (after, up_to)
    if name in ASKED:
        assert len(asked) == len(windows)
    elif name != "deletion vectors":
        assert not asked


def _bag(frame, weight: str) -> Counter:
    shown = frame.selectExpr("id", "p", "x", f"{weight} AS w").collect()
    return Counter(map(tuple, shown))
