"""INTERVAL clauses: fixed, positive lengths of time."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from headwater.define.diagnostics import suggest
from headwater.define.words import WordKind

if TYPE_CHECKING:
    from headwater.define.header import Header, UnexpectedError

_UNITS = {
    "MILLISECOND": timedelta(milliseconds=1),
    "SECOND": timedelta(seconds=1),
    "MINUTE": timedelta(minutes=1),
    "HOUR": timedelta(hours=1),
    "DAY": timedelta(days=1),
    "WEEK": timedelta(weeks=1),
}
LONGEST = timedelta(days=36_500)
"""A century from now is still a date."""

_UNEVEN = {"MONTH": "31 DAYS", "QUARTER": "92 DAYS", "YEAR": "365 DAYS"}
_NUMBER = re.compile(r"\d+(\.\d+)?")
_PARTS = re.compile(r"\s*([+-]?[\d.]+)\s*([A-Za-z]+)")


def read_interval(header: Header) -> timedelta:
    """Take `INTERVAL 5 MINUTES`, `INTERVAL '1' HOUR`, `INTERVAL '5 minutes'`, or several parts."""
    start = header.word
    header.expect("INTERVAL")
    try:
        total = _total(header)
    except OverflowError:
        message = "the interval is too long"
        raise header.refused("INVALID_INTERVAL", message, at=start) from None
    if total > LONGEST:
        raise header.refused("INVALID_INTERVAL", "the interval is too long", at=start)
    if not total:
        raise header.refused("INVALID_INTERVAL", "an interval must be longer than zero", at=start)
    return total


def interval_text(interval: timedelta) -> str:
    """An interval as a user would write it, in the largest unit that divides it."""
    for unit, length in reversed(_UNITS.items()):
        count, remainder = divmod(interval, length)
        if not remainder:
            return f"INTERVAL {count} {unit}{'' if count == 1 else 'S'}"
    return f"INTERVAL {interval.total_seconds()} SECONDS"


def _total(header: Header) -> timedelta:
    word = header.word
    if word.kind is WordKind.STRING and not _NUMBER.fullmatch(word.text.strip()):
        return _from_text(header, word.text)
    total = _part(header)
    while header.word.kind in {WordKind.NUMBER, WordKind.STRING}:
        total += _part(header)
    return total


def _part(header: Header) -> timedelta:
    """One number and its unit."""
    word = header.word
    if word.kind is WordKind.SYMBOL and word.text == "-":
        raise _invalid(header, "an interval cannot be negative")
    if word.kind not in {WordKind.NUMBER, WordKind.STRING}:
        raise header.unexpected("a number")
    if not _NUMBER.fullmatch(word.text.strip()):
        raise _invalid(header, f"{word} is not a number of time units")
    header.advance()
    unit = _unit(header, header.word.text)
    header.advance()
    return float(word.text) * unit


def _from_text(header: Header, text: str) -> timedelta:
    """All parts inside one string."""
    total, at = timedelta(), 0
    while at < len(text.rstrip()):
        part = _PARTS.match(text, at)
        if part is None:
            hint = "write for example INTERVAL '1 hour 30 minutes'"
            raise header.refused("INVALID_INTERVAL", f"'{text}' is not an interval", hint)
        number, unit = part.groups()
        if not _NUMBER.fullmatch(number.lstrip("+")):
            raise _invalid(header, f"`{number}` cannot be a length of time")
        total += float(number) * _unit(header, unit)
        at = part.end()
    header.advance()
    return total


def _unit(header: Header, written: str) -> timedelta:
    name = written.upper().removesuffix("S")
    if name in _UNITS:
        return _UNITS[name]
    if name in _UNEVEN:
        hint = f"write for example INTERVAL {_UNEVEN[name]}"
        message = f"a {name.lower()} has no fixed length"
        raise header.refused("INVALID_INTERVAL", message, hint)
    found = f"unknown unit `{written}`" if written else f"a unit is missing, found {header.word}"
    near = suggest(name, _UNITS)
    hint = f"did you mean {near}S?" if near else f"units: {', '.join(_UNITS)}"
    raise header.refused("INVALID_INTERVAL", found, hint)


def _invalid(header: Header, message: str) -> UnexpectedError:
    return header.refused("INVALID_INTERVAL", message)
