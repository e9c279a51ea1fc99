"""Where the time of a refresh went, as a tree below the view's line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headwater.cli import figures
from headwater.vocabulary.profile import REST, StepCost, Work, total_work
from headwater.vocabulary.receipt import Receipt

_LEAST_SECONDS = 0.001
"""A rest that is shorter is not worth a line, but for the one of the whole."""


def profile_lines(receipt: Receipt) -> list[str]:
    """Each part's time, rows and work; the seconds of a level add up to the line above."""
    if not receipt.profile:
        return ["  └─ no step ran"]
    branches = list(_branches(receipt.profile, "  ", is_whole=True))
    width = max(len(name) for name, _ in branches)
    lines = [_line(name.ljust(width), cost) for name, cost in branches]
    whole = total_work(receipt.profile)
    return [*lines, f"     in all: {_told(whole)}"] if whole is not None and whole.jobs else lines


def _branches(
    costs: Sequence[StepCost], indent: str, *, is_whole: bool = False
) -> Iterator[tuple[str, StepCost]]:
    shown = [c for c in costs if c.name != REST or is_whole or c.seconds >= _LEAST_SECONDS]
    for at, cost in enumerate(shown):
        last = at == len(shown) - 1
        yield f"{indent}{'└─' if last else '├─'} {cost.name}", cost
        yield from _branches(cost.parts, indent + ("   " if last else "│  "))


def _line(name: str, cost: StepCost) -> str:
    counted = "" if cost.rows is None else figures.counted(cost.rows, "row")
    work = _told(cost.work) if cost.work is not None and cost.work.jobs else ""
    told = ", ".join(filter(None, (counted, work)))
    return f"{name}  {figures.seconds(cost.seconds):>7}  {told}".rstrip()


def _told(work: Work) -> str:
    """What Spark did; what it did not do is left out."""
    told = [figures.counted(work.jobs, "job"), figures.counted(work.tasks, "task")]
    if work.bytes_read or work.rows_read:
        rows = figures.counted(work.rows_read, "row")
        told.append(f"read {figures.size(work.bytes_read)} of {rows}")
    if work.shuffle_bytes:
        told.append(f"shuffled {figures.size(work.shuffle_bytes)}")
    if work.bytes_written:
        told.append(f"wrote {figures.size(work.bytes_written)}")
    if work.cpu_ms:
        told.append(f"{figures.seconds(work.cpu_ms / 1000)} of CPU")
    return ", ".join(told)
