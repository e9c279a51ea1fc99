"""window(): a row falls into the very windows that Spark puts it into."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

import pytest

from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.time_windows import with_time_windows
from headwater.testing.oracle import Oracle, TableStates
from headwater.vocabulary.dialect import parsed
from headwater.vocabulary.technique import Technique

LENGTHS = [
    "'1 hour'",
    "'90 minutes', '20 minutes'",
    "'1 day', '1 day', '3 hours'",
    "'interval 1 week 2 days', '2 days 5 hours'",
    "'7 seconds', '3 seconds', '2500 milliseconds'",
    "'11 microseconds', '4 microseconds'",
]
EPOCH = datetime.fromisoformat("1970-01-01")
REFUSED = ["'1 month'", "'0 days'", "'1 hour', '2 hours'", "'1 day', '1 second'", "'soon'", "k"]


@pytest.fixture(scope="module")
def oracle(spark):
    return Oracle(spark)


def moments(random: Random) -> list[tuple[int, datetime | None]]:
    """Before and after 1970, some of them on the edges of windows, some missing."""
    found: list[tuple[int, datetime | None]] = [(0, None), (1, EPOCH)]
    for number in range(40):
        seconds = random.choice([random.randint(-(10**9), 2 * 10**9), 3600 * random.randint(-9, 9)])
        micros = random.choice([0, random.randint(0, 999_999)])
        found.append((number, EPOCH + timedelta(seconds=seconds, microseconds=micros)))
    return found


@pytest.mark.parametrize("lengths", LENGTHS)
def test_windows_are_sparks_own(oracle, lengths):
    before, after = moments(Random(1)), moments(Random(2))
    states = {"r": TableStates("k INT, ts TIMESTAMP", before, after + before[::3])}
    tried, failed = oracle.check(f"SELECT k, window(ts, {lengths}) AS w FROM r", states)
    assert tried[Technique.DELTA] == "sound"
    assert failed == []


@pytest.mark.parametrize("lengths", REFUSED)
def test_what_is_no_fixed_length_is_left_to_spark(lengths):
    with pytest.raises(NotLoweredError) as refused:
        with_time_windows(parsed(f"SELECT window(ts, {lengths}) AS w FROM r"))
    assert refused.value.code == "TIME_WINDOW"
