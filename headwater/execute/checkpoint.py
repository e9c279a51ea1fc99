"""Rows that stay where they were computed.

A checkpointed relation remembers what its query proved of its columns. Where two parts of one query
read it, Spark renames its columns for one of them, but in that memory only those of the same
nullability, and then breaks down over columns that nobody has. So it is made to forget.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from headwater.execute.jvm import java, module, nothing, some

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def checkpointed(session: SparkSession, frame: DataFrame) -> DataFrame:
    """The same rows, evaluated once; its size is remembered."""
    from pyspark.sql import DataFrame as Frame  # noqa: PLC0415

    kept = frame.localCheckpoint(eager=True)
    ours = session._jsparkSession  # noqa: SLF001
    plan = kept._jdf.queryExecution().analyzed()  # noqa: SLF001
    forgetful = java(session, "org.apache.spark.sql.execution.LogicalRDD")(
        plan.output(),
        plan.rdd(),
        plan.outputPartitioning(),
        plan.outputOrdering(),
        plan.isStreaming(),
        plan.stream(),
        ours,
        some(session, plan.stats()),
        nothing(session),
    )
    made = module(session, "org.apache.spark.sql.classic.Dataset$").ofRows(ours, forgetful)
    return Frame(made, session)


def release(frame: DataFrame) -> None:
    """Nobody reads a checkpointed relation any more: executors need not wait for a collection.

    Where Spark has died there is nothing to give back, and what was committed stays committed.
    """
    with suppress(Exception):
        frame._jdf.queryExecution().analyzed().rdd().unpersist(False)  # noqa: FBT003, SLF001
