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

_AGAIN = 0.5
"""Seconds until the next cancel: the first one may fall between two jobs."""


class Patience:
    """While it is entered, jobs with the tag are cancelled once the seconds are over."""

    def __init__(self, spark: SparkSession, tag: str, seconds: float) -> None:
        self._spark = spark
        self._tag = tag
        self._seconds = seconds
        self._left = threading.Event()
        self._over = threading.Event()

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def __enter__(self) -> Self:
        if self._seconds <= _LONGEST:
            threading.Thread(target=self._wait, name=f"patience-{self._tag}", daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._left.set()

    def _wait(self) -> None:
        seconds = self._seconds
        while not self._left.wait(seconds):
            self._over.set()
            self._spark.sparkContext.cancelJobsWithTag(self._tag)
            seconds = _AGAIN
