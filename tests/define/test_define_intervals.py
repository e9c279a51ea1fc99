"""Intervals and cron expressions."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.define.cron import check_cron
from headwater.define.intervals import interval_text
from headwater.define.parse import parse
from headwater.define.statements import CreateView


def warn_after(interval: str) -> timedelta | None:
    parsed = parse(f"CREATE MATERIALIZED VIEW v WARN AFTER {interval} POLICY full AS SELECT 1")
    assert parsed.problems == ()
    (made,) = parsed.statements
    assert isinstance(made, CreateView)
    return made.definition.warn_after


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("INTERVAL 5 MINUTES", timedelta(minutes=5)),
        ("interval 1 minute", timedelta(minutes=1)),
        ("INTERVAL '1' HOUR", timedelta(hours=1)),
        ("INTERVAL '5 minutes'", timedelta(minutes=5)),
        ("INTERVAL ' 1 hour  30 minutes '", timedelta(minutes=90)),
        ("INTERVAL 1 HOUR 30 MINUTES", timedelta(minutes=90)),
        ("INTERVAL '1' DAY '2' HOURS 3 SECONDS", timedelta(days=1, hours=2, seconds=3)),
        ("INTERVAL 1.5 SECONDS", timedelta(seconds=1.5)),
        ("INTERVAL 250 MILLISECONDS", timedelta(milliseconds=250)),
        ("INTERVAL 2 WEEKS", timedelta(weeks=2)),
        ("INTERVAL '+5 days'", timedelta(days=5)),
    ],
)
def test_intervals(text: str, length: timedelta) -> None:
    """Every spelling Spark users know is understood."""
    assert warn_after(text) == length


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INTERVAL ^-5 MINUTES", "negative"),
        ("INTERVAL ^'-5 minutes'", "`-5` cannot be a length of time"),
        ("^INTERVAL 0 MINUTES", "longer than zero"),
        ("^INTERVAL '0 minutes'", "longer than zero"),
        ("INTERVAL ^'soon'", "'soon' is not an interval"),
        ("^INTERVAL ''", "longer than zero"),
        ("INTERVAL 5 ^BLINKS", "unknown unit `BLINKS`"),
        ("INTERVAL ^'5 blinks'", "unknown unit `blinks`"),
        ("INTERVAL 5 ^POLICY full", "unknown unit `POLICY`"),
        ("INTERVAL 1 ^YEAR", "a year has no fixed length"),
        ("^INTERVAL 99999999999 DAYS", "too long"),
        ("INTERVAL ^1D DAYS", "is not a number"),
        ("INTERVAL 5 MINUTES ^'x' DAYS", "'x' is not a number"),
    ],
)
def test_nonsense_intervals(text: str, message: str) -> None:
    """S55: a length of time that cannot be is refused at its place."""
    prefix = "CREATE MATERIALIZED VIEW v WARN AFTER "
    parsed = parse(f"{prefix}{text.replace('^', '')} AS SELECT 1")
    problem = parsed.problems[0]
    assert message in problem.message
    assert problem.code in {"INVALID_INTERVAL", "SQL_SYNTAX"}
    assert problem.location.column == len(prefix) + text.index("^") + 1


@given(st.timedeltas(min_value=timedelta(milliseconds=1), max_value=timedelta(days=4000)))
def test_an_interval_says_itself(length: timedelta) -> None:
    """What is printed for an interval is read back as the same interval."""
    assert warn_after(interval_text(length)) == length


@pytest.mark.parametrize(
    "expression",
    [
        "* * * * *",
        "0 6 * * MON",
        "*/5 0-23/2 1,15 jan-mar,12 0-7",
        "59 23 31 12 sun",
        "0 0 29 2 *",
        "0 0 31 2 MON",
        "5/15 * * * *",
    ],
)
def test_sound_cron_expressions(expression: str) -> None:
    """The usual five fields, with names, lists, ranges and steps."""
    assert check_cron(expression) is None


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("", "five fields, this one 0"),
        ("* * * *", "five fields, this one 4"),
        ("* * * * * *", "five fields, this one 6"),
        ("60 * * * *", "`60` in the minute field is outside 0-59"),
        ("* 24 * * *", "hour"),
        ("* * 0 * *", "day of month"),
        ("* * * 13 *", "month"),
        ("* * * * 8", "day of week"),
        ("* * * * FOO", "`FOO` in the day of week field is not a number"),
        ("5-1 * * * *", "runs backwards"),
        ("*/0 * * * *", "a step of `0`"),
        ("*/x * * * *", "not a number"),
        ("1,,2 * * * *", "not a number"),
        ("-1 * * * *", "not a number"),
        ("² * * * *", "not a number"),
        ("0 0 30 2 *", "never run"),
        ("0 0 31 4,6,9,11 *", "never run"),
    ],
)
def test_unsound_cron_expressions(expression: str, wrong: str) -> None:
    """A schedule that is malformed or can never come true says why."""
    found = check_cron(expression)
    assert found is not None
    assert wrong in found
