"""Changed rows are netted whatever their columns hold."""

from __future__ import annotations

from headwater.plan.consolidate import consolidated


def test_rows_with_maps_are_netted(spark) -> None:
    """A map is equal to itself in any order of its entries; what came and went is no change."""
    rows = (
        "(SELECT map('a', 1, 'b', 2) AS m, 1L AS __hw_weight UNION ALL "
        "SELECT map('b', 2, 'a', 1), -1L UNION ALL SELECT map('a', 3), 1L)"
    )
    found = spark.sql(consolidated(("m",), rows)).collect()
    assert [(row["m"], row["__hw_weight"]) for row in found] == [({"a": 3}, 1)]
