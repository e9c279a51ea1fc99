"""Random views after random changes, seeds 0 to 149; `make soak` takes any number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.laws.soak import assert_all_right

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("first", range(0, 150, 25))
def test_random_views_after_random_changes(spark: SparkSession, first: int) -> None:
    """S25: schemas, views and change batches at random; every technique equals a recompute."""
    assert_all_right(spark, range(first, first + 25))
