"""One measured number, and how a number is measured."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """What was measured; `target` is the most it should be."""

    group: str
    name: str
    value: float
    unit: str
    target: float | None = None

    @property
    def missed(self) -> bool:
        return self.target is not None and self.value > self.target

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "missed": self.missed}


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def median_seconds(work: Callable[[], object], times: int) -> float:
    return statistics.median(seconds(work) for _ in range(times))
