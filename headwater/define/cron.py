"""Five-field cron expressions: minute, hour, day of month, month, day of week.

The scheduler's library decides when the next time is. It only says that a field is bad; a user is
told which part of it and why.
"""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import ZoneInfo

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True)
class _Field:
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    def values(self, text: str) -> frozenset[int]:
        """All values a field's text stands for; raises ValueError for nonsense."""
        found: set[int] = set()
        for part in text.split(","):
            found |= self._part(part)
        return frozenset(found)

    def _part(self, part: str) -> set[int]:
        span, slash, step_text = part.partition("/")
        step = self._number(step_text) if slash else 1
        if step < 1:
            raise ValueError(f"a step of `{step_text}` in the {self.name} field")
        first, last = self._span(span, open_ended=bool(slash))
        return set(range(first, last + 1, step))

    def _span(self, span: str, *, open_ended: bool) -> tuple[int, int]:
        if span == "*":
            return self.low, self.high
        first_text, dash, last_text = span.partition("-")
        first = self._value(first_text)
        last = self._value(last_text) if dash else self.high if open_ended else first
        if last < first:
            raise ValueError(f"`{span}` in the {self.name} field runs backwards")
        return first, last

    def _value(self, text: str) -> int:
        if text.upper() in self.names:
            return self.names.index(text.upper()) + self.low
        value = self._number(text)
        if not self.low <= value <= self.high:
            limits = f"{self.low}-{self.high}"
            raise ValueError(f"`{text}` in the {self.name} field is outside {limits}")
        return value

    def _number(self, text: str) -> int:
        if not (text.isascii() and text.isdecimal()):
            raise ValueError(f"`{text}` in the {self.name} field is not a number")
        return int(text)


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of week", 0, 7, _DAYS),
)


def check_cron(expression: str) -> str | None:
    """What is wrong with a cron expression, or None."""
    fields = expression.split()
    if len(fields) != len(_FIELDS):
        return f"a cron expression has five fields, this one {len(fields)}"
    try:
        values = [field.values(text) for field, text in zip(_FIELDS, fields, strict=True)]
    except ValueError as wrong:
        return str(wrong)
    _, _, days, months, _ = values
    every_weekday = fields[4].startswith("*")  # a day must then fit both fields
    if every_weekday and min(days) > max(_LONGEST[month - 1] for month in months):
        return "no month it names has such a day, so it would never run"
    return None


def check_time_zone(name: str) -> str | None:
    """What is wrong with the name of a time zone, or None."""
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # no such name, a path, a folder of zones
        return f"there is no time zone called `{name}`"
    return None
