"""Numbers and times as people read them."""

from __future__ import annotations

from datetime import datetime
from math import log10

_LONG = 10
_THOUSAND = 1000
_SIZES = ("kB", "MB", "GB", "TB")
_STEPS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def seconds(value: float | None) -> str:
    """A duration with three digits that matter."""
    if value is None:
        return ""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.2f} s" if value < _LONG else f"{value:.1f} s"


def rows(inserted: int | None, deleted: int | None) -> str:
    """Rows that came and went; empty while that is not known."""
    if inserted is None or deleted is None:
        return ""
    return f"+{inserted:,} -{deleted:,}"


def size(count: int) -> str:
    """Bytes in the largest unit that fits, with at most one digit behind the point."""
    if count < _THOUSAND:
        return f"{count} B"
    power = min(int(log10(count)) // 3, len(_SIZES))
    amount = count / _THOUSAND**power
    return f"{amount:,.{1 if amount < _LONG else 0}f} {_SIZES[power - 1]}"


def ago(moment: datetime | None, now: datetime) -> str:
    """How long ago, in the largest unit that fits."""
    if moment is None:
        return "never"
    passed = max(0, int((now - moment).total_seconds()))
    for size, unit in _STEPS:
        if passed >= size:
            return f"{passed // size} {unit} ago"
    return "now"


def clock_time(moment: datetime) -> str:
    """A moment in the reader's own time zone."""
    return moment.astimezone().strftime("%m-%d %H:%M:%S")


def counted(number: int, noun: str) -> str:
    """`1 view`, `2 views`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def until(moment: datetime | None, now: datetime) -> str:
    """How long from now, in the largest unit that fits; empty for never."""
    if moment is None:
        return ""
    left = int((moment - now).total_seconds())
    for size, unit in _STEPS:
        if left >= size:
            return f"in {left // size} {unit}"
    return "now"
