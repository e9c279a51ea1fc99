"""The one statement that changes a view, per kind of write."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

from headwater.commit.target import Target
from headwater.execute.staged import Staged
from headwater.plan.steps import (
    Append,
    MergeGroups,
    MergeKeys,
    MergeRows,
    Overwrite,
    Rewrite,
    Write,
)
from headwater.vocabulary.names import TRANSACTION_APP, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OVERWRITE_SHARE = 0.5
"""A rebuild that changes more than this share of a view's rows writes it whole."""


@singledispatch
def write(step: Write, staged: Staged, target: Target) -> None:
    """Carry out a write; Delta skips it silently if its sequence was used before."""
    raise TypeError(f"no writer for {type(step).__name__}")


@write.register(MergeRows)
@write.register(MergeKeys)
@write.register(MergeGroups)
def _merge(step: MergeRows | MergeKeys | MergeGroups, staged: Staged, target: Target) -> None:
    session = staged.session
    session.conf.set("spark.databricks.delta.write.txnAppId", TRANSACTION_APP)
    session.conf.set("spark.databricks.delta.write.txnVersion", str(target.stamp.sequence))
    session.conf.set("spark.databricks.delta.commitInfo.userMetadata", target.stamp.to_json())
    session.sql(step.merge(f"delta.{quoted(target.path)}", step.relation))


@write.register
def _append(step: Append, staged: Staged, target: Target) -> None:
    _stamped(_frame(staged, step), target).mode("append").save(target.path)


@write.register
def _overwrite(step: Overwrite, staged: Staged, target: Target) -> None:
    _replace(_frame(staged, step), target)


@write.register
def _rewrite(step: Rewrite, staged: Staged, target: Target) -> None:
    """Most rows differ: write all of them; few do: write those."""
    total = staged.rows.get(step.content, 0)
    if staged.rows.get(step.relation, 0) > _OVERWRITE_SHARE * max(total, 1) and total > 0:
        columns = ", ".join(quoted(c) for c in step.columns)
        content = staged.session.sql(f"SELECT {columns} FROM {quoted(step.content)}")
        _replace(content, target)
    else:
        _merge(step.rows, staged, target)


def _frame(staged: Staged, step: Write) -> DataFrame:
    columns = ", ".join(quoted(c) for c in step.columns)
    return staged.session.sql(f"SELECT {columns} FROM {quoted(step.relation)}")


def _replace(frame: DataFrame, target: Target) -> None:
    writer = _stamped(frame, target).mode("overwrite").option("overwriteSchema", "true")
    for name, value in target.properties.items():
        writer = writer.option(name, value)
    if target.partitioned_by:
        writer = writer.partitionBy(*target.partitioned_by)
    if target.cluster_by and target.stamp.base < 0:
        writer = writer.clusterBy(*target.cluster_by)
    writer.save(target.path)


def _stamped(frame: DataFrame, target: Target) -> Any:
    return (
        frame.write.format("delta")
        .option("txnAppId", TRANSACTION_APP)
        .option("txnVersion", target.stamp.sequence)
        .option("userMetadata", target.stamp.to_json())
    )
