"""What a query may ask the clock, and what it is told: one instant per refresh, as typed literals.

In texts and trees that are to be bound, every such call is written `` `name`() ``. To Spark that is
the very same call; to `bound` it is the place of a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from headwater.vocabulary.errors import WrongUse

CLOCKS: Mapping[str, str] = {
    "curdate": "current_date",
    "current_date": "current_date",
    "current_time": "current_time",
    "current_timestamp": "current_timestamp",
    "localtimestamp": "localtimestamp",
    "now": "current_timestamp",
    "unix_timestamp": "unix_timestamp",
}
"""Function, called without arguments -> the one whose value it has."""

_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")
_SECONDS = "%Y-%m-%d %H:%M:%S.%f"


def marker(clock: str) -> str:
    """How a call that is to be bound is written."""
    return f"`{clock}`()"


def bound(sql: str, values: Mapping[str, str]) -> str:
    """A text whose calls are replaced by their values."""
    for clock, value in values.items():
        sql = sql.replace(marker(clock), value)
    return sql


def values_at(clocks: Iterable[str], at: datetime, zone: str) -> dict[str, str]:
    """What each call gives at an instant in a session's time zone, as a literal of its type.

    >>> values_at(["current_date"], datetime(2026, 11, 15, 23, 30, tzinfo=UTC), "Asia/Tokyo")
    {'current_date': "DATE'2026-11-16'"}
    """
    return {clock: _literal(clock, at, zone) for clock in sorted(clocks)}


def _literal(clock: str, at: datetime, zone: str) -> str:
    if clock == "current_timestamp":
        return f"TIMESTAMP_LTZ'{at.astimezone(UTC).strftime(_SECONDS)} UTC'"
    if clock == "unix_timestamp":
        return f"{int(at.timestamp())}L"
    local = at.astimezone(_zone(zone))
    if clock == "current_date":
        return f"DATE'{local:%Y-%m-%d}'"
    if clock == "current_time":
        return f"TIME'{local:%H:%M:%S.%f}'"
    return f"TIMESTAMP_NTZ'{local.strftime(_SECONDS)}'"


def _zone(name: str) -> tzinfo:
    """A zone by the names that Spark takes: regions and offsets."""
    if name.upper() in {"Z", "UTC", "GMT", "UT"}:
        return UTC
    if offset := _OFFSET.fullmatch(name):
        sign, *parts = offset.groups()
        hours, minutes, seconds = (int(part or 0) for part in parts)
        away = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return timezone(-away if sign == "-" else away)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError) as unknown:
        raise WrongUse(
            f"the session's time zone `{name}` is not known here",
            hint="set spark.sql.session.timeZone to a region, as in Europe/Berlin, or to an offset",
        ) from unknown
