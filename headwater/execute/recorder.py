"""Times the parts of one refresh and marks each part's Spark jobs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.vocabulary.profile import StepCost, Work, with_rest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass
class Part:
    """A part under way; whoever runs it may say how many rows it made."""

    name: str
    tag: str
    rows: int | None = None
    seconds: float = 0.0
    parts: list[Part] = field(default_factory=list)


class Recorder:
    """The parts of one attempt, which all run in one thread, inside each other or in turn."""

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self._count = 0
        self._root = Part("", "")
        self._open = [self._root]

    @contextmanager
    def part(self, name: str, spark: SparkSession | None = None) -> Iterator[Part]:
        """Time what runs inside; with a session, its Spark jobs are known to be this part's.

        Spark hands the tag on to the threads it starts for a query. A job carries the tags of all
        parts around it; the last of them is the one it belongs to.
        """
        part = self._added(name)
        started = time.perf_counter()
        self._open.append(part)
        if spark is not None:
            spark.sparkContext.addJobTag(part.tag)
        try:
            yield part
        finally:
            if spark is not None:
                spark.sparkContext.removeJobTag(part.tag)
            self._open.pop()
            part.seconds = time.perf_counter() - started

    def passed(self, name: str, seconds: float) -> None:
        """A part that was over before it could be entered."""
        self._added(name).seconds = seconds

    def costs(self, seconds: float, work: Mapping[str, Work] | None) -> tuple[StepCost, ...]:
        """The tree of all parts, of a whole that took so long; work by the tags of the parts."""
        return with_rest((_cost(part, work) for part in self._root.parts), seconds)

    def _added(self, name: str) -> Part:
        self._count += 1
        part = Part(name, f"{self._tag}-{self._count:04}")
        self._open[-1].parts.append(part)
        return part


def _cost(part: Part, work: Mapping[str, Work] | None) -> StepCost:
    own = None if work is None else work.get(part.tag, Work())
    parts = tuple(_cost(inner, work) for inner in part.parts)
    if parts:
        parts = with_rest(parts, part.seconds)
    return StepCost(part.name, part.seconds, part.rows, own, parts)
