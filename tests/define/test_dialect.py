"""Queries are written back as they were meant, where sqlglot alone would mean something else."""

from __future__ import annotations

import pytest

from headwater.vocabulary.dialect import parsed, written


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT listagg(a) WITHIN GROUP (ORDER BY a) FROM t",
        "SELECT string_agg(DISTINCT a, ';') FROM t",
        "WITH c AS (SELECT 1), d AS (WITH c AS (SELECT 2) SELECT * FROM c) SELECT * FROM d",
        "SELECT window, COUNT(*) FROM t GROUP BY window(ts, '1 hour')",
        "SELECT offset, SUM(x) FROM t GROUP BY offset LIMIT 3 OFFSET 2",
        "SELECT SUM(x) OVER w FROM t WINDOW w AS (PARTITION BY a)",
        "SELECT SUM(x) OVER window FROM t WINDOW window AS (PARTITION BY a)",
        "SELECT a FROM t GROUP BY all",
        "SELECT a FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY b) = 1",
    ],
)
def test_nothing_is_changed(sql: str) -> None:
    assert written(parsed(sql)) == sql


@pytest.mark.parametrize(
    ("sql", "meaning"),
    [
        ("SELECT * FROM VALUES 1, 2 AS d(a)", "SELECT * FROM VALUES (1), (2) AS d(a)"),
        (
            "SELECT interval 2 weeks 3 hours * 2",
            "SELECT (INTERVAL '2' WEEKS + INTERVAL '3' HOURS) * 2",
        ),
        (
            "SELECT v:a.b[0]::int FROM t",
            "SELECT CAST(variant_get(v, '$.a.b[0]', 'variant') AS INT) FROM t",
        ),
    ],
)
def test_the_meaning_is_kept(sql: str, meaning: str) -> None:
    assert written(parsed(sql)) == meaning
