"""Arenas on the Spark of all tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.chaos.harness import Arena
from tests.scenarios.conftest import small_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["arena", "small_spark"]


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory, small_spark: SparkSession) -> Iterator[Arena]:
    made = Arena.make(tmp_path_factory.mktemp("arena"), small_spark, seed=3)
    yield made
    made.close()
