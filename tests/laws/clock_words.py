"""Queries that ask the clock, as they are to be answered at a time."""

from __future__ import annotations

from datetime import UTC, datetime

from headwater.testing.oracle import Times

_BEFORE, _NOW = datetime(2024, 1, 15, 5, tzinfo=UTC), datetime(2024, 6, 20, 9, tzinfo=UTC)
"""Between them lie some days and instants of random tables."""

LITERALS = {
    "current_timestamp()": "TIMESTAMP'{now:%Y-%m-%d %H:%M:%S.%f} UTC'",
    "localtimestamp()": "TIMESTAMP_NTZ'{now:%Y-%m-%d %H:%M:%S.%f}'",
    "unix_timestamp()": "{seconds}L",
    "current_date()": "DATE'{now:%Y-%m-%d}'",
    "curdate()": "DATE'{now:%Y-%m-%d}'",
    "current_date": "DATE'{now:%Y-%m-%d}'",
    "now()": "TIMESTAMP'{now:%Y-%m-%d %H:%M:%S.%f} UTC'",
}


def at(sql: str, now: datetime) -> str:
    """The query as it is to be answered at a time, by plain replacement of words."""
    for call, literal in LITERALS.items():
        sql = sql.replace(call, literal.format(now=now, seconds=int(now.timestamp())))
    return sql


def times_of(sql: str) -> Times | None:
    """Where a query asks the clock, time passes with the change."""
    wanted = at(sql, _NOW)
    return None if wanted == sql else Times(_BEFORE, _NOW, wanted)
