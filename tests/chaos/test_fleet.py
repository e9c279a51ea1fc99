"""Three real runners on a real PostgreSQL, while everything goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.chaos.fleet import Fleet, own_database

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECONDS = 120
TABLES = 4
"""Five views each."""


@pytest.fixture
def database() -> Iterator[Any]:
    with own_database() as server:
        yield server


@pytest.mark.timeout(1200)
def test_everything_goes_wrong_and_comes_right(
    database: Any, small_spark: SparkSession, tmp_path: Path
) -> None:
    """S17, S67, S70: every view equal, every commit covered, one owner each."""
    url = database.get_uri(driver="psycopg")
    fleet = Fleet.make(tmp_path, small_spark, url, database, seed=11, size=TABLES)
    print(*fleet.live_through(SECONDS), sep="\n")
