"""window(t, length [, slide [, start]]): the time windows that a row falls into, as a generator.

SELECT window(t, '1 hour').start, count(*) FROM r GROUP BY window(t, '1 hour')
->  SELECT w.window.start, count(*) FROM r LATERAL VIEW explode(<windows of t>) w AS window
    GROUP BY w.window

Spark counts windows in microseconds from 1970 on; a row without a time falls into none.
"""

from __future__ import annotations

import re

from sqlglot import exp

from headwater.define.lowering.refusal import NotLoweredError
from headwater.vocabulary.dialect import parsed, written

_ALIAS, _COLUMN = "__hw_time", "window"
_MOST = 100
"""Windows that a row may fall into."""

_LEAST_ARGUMENTS, _MOST_ARGUMENTS = 2, 4
_PART = re.compile(r"\s*(\d+)\s*([a-z]+?)s?(?=\s|\d|$)", re.IGNORECASE)
_UNITS = {
    "microsecond": 1,
    "millisecond": 10**3,
    "second": 10**6,
    "minute": 60 * 10**6,
    "hour": 3600 * 10**6,
    "day": 86_400 * 10**6,
    "week": 7 * 86_400 * 10**6,
}


def with_time_windows(select: exp.Select) -> exp.Select:
    """A copy in which time windows are columns of a generator."""
    if not _calls(select):
        return select
    stars = [star for star in select.find_all(exp.Star) if not isinstance(star.parent, exp.Count)]
    if any(star.find_ancestor(exp.Select) is select for star in stars):
        raise NotLoweredError("TIME_WINDOW", "a star beside a time window")
    copied = select.copy()
    calls = _calls(copied)
    if any(call != calls[0] for call in calls):
        raise NotLoweredError("TIME_WINDOW", "two different time windows")
    generator = parsed(f"SELECT 1 FROM r LATERAL VIEW explode({_windows(calls[0])}) {_ALIAS} AS w")
    (lateral,) = generator.args["laterals"]
    lateral.args["alias"].set("columns", [exp.to_identifier(_COLUMN)])
    for call in calls:
        call.replace(exp.column(_COLUMN, table=_ALIAS))
    copied.set("laterals", [*(copied.args.get("laterals") or []), lateral])
    return copied


def _calls(select: exp.Select) -> list[exp.Anonymous]:
    """Those of the SELECT itself, not of the queries in it."""
    found = [call for call in select.find_all(exp.Anonymous) if call.name.lower() == "window"]
    return [call for call in found if call.find_ancestor(exp.Select) is select]


def _windows(call: exp.Anonymous) -> str:
    """An array of structs, as SQL over the call's own time."""
    arguments = list(call.expressions)
    if not _LEAST_ARGUMENTS <= len(arguments) <= _MOST_ARGUMENTS:
        raise NotLoweredError("TIME_WINDOW", "a time, a length, a slide and a start are expected")
    time, lengths = arguments[0], [micros(argument) for argument in arguments[1:]]
    length, slide, start = (*lengths, *(lengths[0], 0)[len(lengths) - 1 :])
    count = -(-length // slide) if slide else 0
    if not 0 < slide <= length or start >= slide or count > _MOST:
        raise NotLoweredError("TIME_WINDOW", f"{written(call)} has too many windows or none")
    at = f"unix_micros(CAST({written(time)} AS TIMESTAMP))"
    last = f"{at} - pmod({at} - {start}L, {slide}L)"
    found = []
    for before in range(0, count * slide, slide):
        begins, ends = f"{last} - {before}L", f"{last} - {before}L + {length}L"
        struct = (
            f"named_struct('start', timestamp_micros({begins}), 'end', timestamp_micros({ends}))"
        )
        is_sure = before + slide <= length
        found.append(struct if is_sure else f"IF({at} < {ends}, {struct}, NULL)")
    windows = f"array_compact(array({', '.join(found)}))"
    return f"CASE WHEN {written(time)} IS NOT NULL THEN {windows} END"


def micros(argument: exp.Expr) -> int:
    """A length that is the same at all times; months are not."""
    text = argument.name.strip() if isinstance(argument, exp.Literal) and argument.is_string else ""
    text = re.sub(r"(?i)^interval\s+", "", text)
    total, end = 0, 0
    for part in _PART.finditer(text):
        if part.start() != end or part.group(2).lower() not in _UNITS:
            break
        total, end = total + int(part.group(1)) * _UNITS[part.group(2).lower()], part.end()
    if not text or end != len(text):
        raise NotLoweredError("TIME_WINDOW", f"{written(argument)} is no length of time")
    return total
