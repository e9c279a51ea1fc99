"""One arena for all of it, on the Spark of all tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.chaos.arena import Arena

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="package")
def arena(tmp_path_factory: pytest.TempPathFactory, small_spark: SparkSession) -> Iterator[Arena]:
    """Two processes with a Spark of their own are started at once: they are wanted at the end."""
    made = Arena.make(tmp_path_factory.mktemp("arena"), small_spark, seed=3)
    made.prepare(with_spark=True, number=2)
    made.prepare(with_spark=False)
    yield made
    made.close()
