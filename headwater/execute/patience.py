"""Stop Spark's work for a refresh that takes far longer than it should.

A change can explode: one hot key on both sides of a join, and a few changed rows become more than
the tables hold. No statistic of a log tells. Time does.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_LONGEST = 86_400.0
"""Beyond a day there is no limit; a clock cannot be set for any time at all."""


class Patience:
    """While it is entered, jobs with the tag are cancelled once the seconds are over."""

    def __init__(self, spark: SparkSession, tag: str, seconds: float) -> None:
        self._spark = spark
        self._tag = tag
        self._over = threading.Event()
        self._timer: threading.Timer | None = None
        if seconds <= _LONGEST:
            self._timer = threading.Timer(seconds, self._end)
            self._timer.daemon = True

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def __enter__(self) -> Self:
        if self._timer is not None:
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _end(self) -> None:
        self._over.set()
        self._spark.sparkContext.cancelJobsWithTag(self._tag)
