"""Lakes: one per test, or one per file where tests build on each other's data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.scenarios.lake import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def lake(tmp_path: Path, small_spark: SparkSession) -> Iterator[Lake]:
    made = Lake(tmp_path, small_spark)
    yield made
    made.hw.close()


@pytest.fixture(scope="module")
def shared_lake(
    tmp_path_factory: pytest.TempPathFactory, small_spark: SparkSession
) -> Iterator[Lake]:
    made = Lake(tmp_path_factory.mktemp("lake"), small_spark)
    yield made
    made.hw.close()
