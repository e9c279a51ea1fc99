"""Where the time of a refresh went, as a tree of parts, and what each made Spark do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

REST = "unaccounted"
"""The part that no other part of a refresh accounts for."""


@dataclass(frozen=True)
class Work:
    """What Spark did for a part; bytes and rows as its tasks counted them."""

    jobs: int = 0
    tasks: int = 0
    rows_read: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    shuffle_bytes: int = 0
    cpu_ms: int = 0  # of the tasks, not of the driver that planned them

    def __add__(self, other: Work) -> Work:
        return Work(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Work)))

    def to_json(self) -> dict[str, int]:
        return {field.name: getattr(self, field.name) for field in fields(Work)}

    @classmethod
    def from_json(cls, value: Mapping[str, int]) -> Self:
        return cls(**{field.name: value.get(field.name, 0) for field in fields(Work)})


@dataclass(frozen=True)
class StepCost:
    """Seconds and rows of one part of a refresh; its work without that of its own parts."""

    name: str
    seconds: float
    rows: int | None = None
    work: Work | None = None  # None where Spark was not asked, or did not answer
    parts: tuple[StepCost, ...] = ()

    @property
    def whole_work(self) -> Work | None:
        """Its own and its parts'."""
        return total_work((replace(self, parts=()), *self.parts)) if self.parts else self.work

    def to_json(self) -> dict[str, Any]:
        return {
            "step": self.name,
            "seconds": self.seconds,
            "rows": self.rows,
            "work": self.work.to_json() if self.work else None,
            "parts": [part.to_json() for part in self.parts],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Also of what earlier versions wrote, which had neither work nor parts."""
        work = value.get("work")
        return cls(
            value["step"],
            value["seconds"],
            value["rows"],
            Work.from_json(work) if work is not None else None,
            tuple(StepCost.from_json(part) for part in value.get("parts", ())),
        )


def total_work(costs: Iterable[StepCost]) -> Work | None:
    """What Spark did for all of them; None where it is known for none."""
    known = [work for cost in costs if (work := cost.whole_work) is not None]
    return sum(known, Work()) if known else None


def with_rest(parts: Iterable[StepCost], seconds: float) -> tuple[StepCost, ...]:
    """The parts and what they leave of the whole, so that they add up to it."""
    found = tuple(parts)
    left = seconds - sum(part.seconds for part in found)
    return (*found, StepCost(REST, max(left, 0.0)))
