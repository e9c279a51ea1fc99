"""Values that Spark's groups take for equal, and that expressions tell apart."""

from __future__ import annotations

import pytest

from tests.scenarios.lake import Lake

VIEWS = {
    "written": "SELECT k, CAST(x AS STRING) AS s FROM t",
    "by_writing": "SELECT CAST(x AS STRING) AS s, count(*) AS n FROM t GROUP BY CAST(x AS STRING)",
    "passed_on": "SELECT k, x, a, m, c FROM t",
    "grouped": "SELECT k, max(x) AS top, max_by(m, c) AS m, count(*) AS n FROM t GROUP BY k",
    "first_rows": "SELECT k, x, a FROM t ORDER BY k LIMIT 3",
    "keys_of": "SELECT k, map_keys(m) AS ks FROM t",
    "first_keys": "SELECT map_keys(m)[0] AS f, count(*) AS n FROM t GROUP BY map_keys(m)[0]",
    "looked_up": "SELECT k, m['a'] AS a FROM t",
    "in_arrays": "SELECT k, CAST(a AS STRING) AS s FROM t",
    "by_case": "SELECT k, CAST(c AS STRING) AS c, n FROM "
    "(SELECT k, c COLLATE UTF8_LCASE AS c, count(*) OVER (PARTITION BY k) AS n FROM t)",
    "of_windows": "SELECT k, CAST(top AS STRING) AS s, map_values(m) AS vs FROM "
    "(SELECT k, m, max(x) OVER (PARTITION BY k) AS top FROM t)",
}

ROWS = (
    "(1, -0.0D, map('b', 1, 'a', 2), array(-0.0D), 'Ann')",
    "(2, 0.0D, map('a', 2, 'b', 1), array(0.0D, 1.0D), 'ANN')",
    "(3, double('NaN'), NULL, NULL, NULL)",
    "(4, -0.0D, map('z', 0, 'a', 2), array(), 'ann')",
)


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    table = f"delta.`{shared_lake.folder / 'data' / 't'}`"
    shared_lake.spark.sql(
        f"CREATE TABLE {table} (k INT, x DOUBLE, m MAP<STRING, INT>, a ARRAY<DOUBLE>, "
        "c STRING) USING delta "
        "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    )
    shared_lake.register("t")
    shared_lake.run(f"INSERT INTO {{t}} VALUES {', '.join(ROWS)}")
    for name, query in VIEWS.items():
        shared_lake.view(name, query, "POLICY STRICT")
    shared_lake.refresh()
    return shared_lake


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE {t} SET k = k + 10",
        f"INSERT INTO {{t}} VALUES {ROWS[0]}, {ROWS[3]}",
        "DELETE FROM {t} WHERE k = 11",
        "UPDATE {t} SET x = -x, m = map_from_entries(reverse(map_entries(m))), c = upper(c)",
        "UPDATE {t} SET k = k + 1, c = lower(c) WHERE k > 10",
    ],
)
def test_each_is_kept_as_it_is_written(lake: Lake, change: str) -> None:
    """Compared by their texts: where Spark compares, they would be equal anyway."""
    lake.run(change)
    lake.refresh()
    for view, expected in lake.recomputed(*VIEWS).items():
        assert lake.content(view) == expected, view
