"""A session of its own for each refresh.

Settings, temporary views and registered functions start as copies of the user's session, and what a
refresh sets or defines is seen by nobody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from headwater.execute.lanes import REFRESHES
from headwater.execute.settings import RIGHT_SETTINGS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POOL = "spark.scheduler.pool"

REFRESH_SETTINGS: Mapping[str, str] = {
    "spark.databricks.delta.checksumDVMetrics.enabled": "false",
    "spark.databricks.delta.merge.materializeSource": "none",
    "spark.databricks.delta.schema.autoMerge.enabled": "false",
    "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
}
"""Among them: versions older than the table's retention can be read as long as their files are
there. A table that was quiet for a week is still at such a version. And a commit does not count
dead rows for its checksum: a table that had none at first would be read by three jobs each time."""


_FILES_BY = "spark.sql.streaming.checkpointFileManagerClass"
_PLAINLY = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
"""By which Delta writes a commit's checksum; the usual one starts eight processes to rename it."""


def isolated(spark: SparkSession) -> SparkSession:
    """A clone of the session for one refresh."""
    from pyspark.sql import SparkSession as Session  # noqa: PLC0415

    clone = Session(spark.sparkContext, spark._jsparkSession.cloneSession())  # noqa: SLF001
    for name, value in {**REFRESH_SETTINGS, **RIGHT_SETTINGS}.items():
        clone.conf.set(name, value)
    if clone.conf.get(_FILES_BY, None) is None:
        clone.conf.set(_FILES_BY, _PLAINLY)
    return clone


def forget(clone: SparkSession) -> None:
    """Its temporary views are gone, and with them the rows of small relations.

    Spark's threads remember for a while which session was the last one they worked for.
    """
    with suppress(Exception):  # where Spark has died there is nothing to hold them
        clone._jsparkSession.sessionState().catalog().clearTempTables()  # noqa: SLF001


@contextmanager
def forgotten_on_failure(clone: SparkSession) -> Iterator[None]:
    """Nobody is left who could forget it later."""
    try:
        yield
    except BaseException:
        forget(clone)
        raise


@contextmanager
def tagged(spark: SparkSession, tag: str) -> Iterator[None]:
    """All Spark jobs of this thread carry the tag, by which they can be cancelled.

    They run in a pool of their own: a small refresh need not wait for the tasks of a large one.
    """
    context = spark.sparkContext
    with REFRESHES.lane() as lane:
        context.addJobTag(tag)
        context.setLocalProperty(POOL, f"refresh-{lane}")
        try:
            yield
        finally:
            context.removeJobTag(tag)
            context.setLocalProperty(POOL, None)  # type: ignore[arg-type]
