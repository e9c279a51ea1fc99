"""Random views on real tables: the share of the soak that goes the whole way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.laws.whole_way import sail

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("seed", [2])
def test_random_views_on_real_tables(small_spark: SparkSession, seed: int) -> None:
    """S25: whatever is committed to the sources, every view is what Spark makes of its query."""
    voyage = sail(small_spark, seed, views=4, rounds=2)
    assert voyage.wrong == [], "\n".join(voyage.told)
    assert voyage.counted["compared"] > 10
