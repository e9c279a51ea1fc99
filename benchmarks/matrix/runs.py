"""One run of one contender, and what several of them make."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from benchmarks.matrix.contenders import Told
from benchmarks.matrix.results import Timing

_LONGEST_ERROR = 300


@dataclass(frozen=True)
class Measured:
    """One run of one contender."""

    seconds: float
    told: Told = field(default_factory=Told)
    error: str = ""


def timing_of(runs: Collection[Measured]) -> Timing:
    good = [run for run in runs if not run.error]
    errors = [run.error for run in runs if run.error]
    if not good:
        return Timing(error=errors[0] if errors else "")
    last = good[-1].told
    seconds = tuple(round(run.seconds, 3) for run in good)
    return Timing(seconds, last.technique, last.forecast, errors[0] if errors else "")


def short(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:_LONGEST_ERROR]
