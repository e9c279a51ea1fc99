"""Random views after random changes, seeds 0 to 149; `make soak` takes any number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.laws.soak import Soak

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIRST, AT_ONCE = 0, 25


@pytest.mark.parametrize("first", range(FIRST, FIRST + 150, AT_ONCE))
def test_random_views_after_random_changes(spark: SparkSession, first: int) -> None:
    """S25: schemas, views and change batches at random; every technique equals a recompute."""
    counted = Soak(spark).run(range(first, first + AT_ONCE))
    assert not counted["wrong"]
    assert not counted["errors"]
    assert counted["incremental"] > AT_ONCE // 5
