"""What Spark did for each part of a refresh, asked of its own status store.

Spark keeps the store whether it shows its web page or not, and drops the oldest of more than
`spark.ui.retainedJobs` jobs. It learns of jobs a little later than they end, hence the wait. Each
job and stage is asked for by one short line: a long reply, such as all of them as JSON, comes in
several packets and takes 40 ms, and loading what writes JSON takes 300 ms.
As it is, a job with its stages costs two milliseconds on a busy machine; the job itself took 25 at
least. So it is asked after every refresh.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from headwater.vocabulary.profile import Work

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_WAIT_MILLISECONDS = 50
_JOB = ("stageIds", "jobTags", "numCompletedTasks")
_STAGE = ("inputRecords", "inputBytes", "outputBytes", "shuffleWriteBytes", "executorCpuTime")
_NANOSECONDS_PER_MS = 1_000_000


def work_by_part(spark: SparkSession, tag: str) -> dict[str, Work] | None:
    """Work by the parts' tags, of all jobs that carry the tag of the attempt; None if unknown."""
    try:
        return _work(spark, tag)
    except Exception:  # noqa: BLE001  (whatever is wrong with the figures, the refresh is done)
        return None


def _work(spark: SparkSession, tag: str) -> dict[str, Work]:
    context: Any = spark.sparkContext._jsc.sc()  # noqa: SLF001
    ask = _asking(spark.sparkContext)
    with suppress(Exception):  # it is busy with others' jobs
        context.listenerBus().waitUntilEmpty(_WAIT_MILLISECONDS)
    store = context.statusStore()
    ids = _numbers(ask.listed(context.statusTracker().getJobIdsForTag(tag)))
    found: dict[str, Work] = {}
    seen: set[int] = set()
    for id_ in sorted(ids):  # a stage that several jobs share ran in the first of them
        text = ask.described(store.job(id_), ask.of_job)
        stages = set(_numbers(_value(text, r"stageIds=\w+\(([\d, ]*)\)"))) - seen
        seen |= stages
        work = Work(jobs=1, tasks=int(_value(text, r"numCompletedTasks=(\d+)")))
        for stage in stages:
            told = _stage(store, stage)
            if told is not None:
                work += _of_stage(ask.described(told, ask.of_stage))
        part = max(re.findall(rf"{re.escape(tag)}-\d+", text), default=tag)
        found[part] = found.get(part, Work()) + work
    return found


def _stage(store: Any, stage: int) -> Any:
    """None for one that was skipped and never known."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415

    with suppress(Py4JJavaError):
        return store.lastStageAttempt(stage)
    return None


def _of_stage(text: str) -> Work:
    rows, read, written, shuffled, cpu = (int(_value(text, rf"{name}=(\d+)")) for name in _STAGE)
    return Work(
        rows_read=rows,
        bytes_read=read,
        bytes_written=written,
        shuffle_bytes=shuffled,
        cpu_ms=cpu // _NANOSECONDS_PER_MS,
    )


@dataclass(frozen=True)
class _Asking:
    """What is called in the JVM; finding it by name takes a call per word."""

    listed: Any
    described: Any
    of_job: Any
    of_stage: Any


@lru_cache(maxsize=1)
def _asking(context: SparkContext) -> _Asking:
    jvm: Any = context._jvm  # noqa: SLF001
    return _Asking(
        jvm.java.util.Arrays.toString,
        jvm.org.apache.commons.lang3.builder.ReflectionToStringBuilder.toStringInclude,
        _names(jvm, _JOB),
        _names(jvm, _STAGE),
    )


def _names(jvm: Any, names: tuple[str, ...]) -> Any:
    listed = jvm.java.util.ArrayList()
    for name in names:
        listed.add(name)
    return listed


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def _value(text: str, pattern: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"{pattern} is not in {text}")
    return found[1]
