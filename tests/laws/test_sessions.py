"""session_window(): rows fall into the very sessions that Spark puts them into."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from headwater.testing.oracle import Oracle, Rows, TableStates
from headwater.vocabulary.technique import Technique

DDL = "k int, v int, ts timestamp, plain timestamp_ntz"
QUERIES = {
    "per key": "SELECT k, session_window(ts, '5 minutes') AS s, count(*) AS n FROM r GROUP BY k, s",
    "of all": "SELECT session_window(ts, '90 seconds') AS s, sum(v) AS n FROM r GROUP BY 1",
    "without zone": (
        "SELECT v % 2 AS odd, session_window(plain, '5 minutes').end AS e, max(v) AS m FROM r "
        "GROUP BY v % 2, session_window(plain, '5 minutes')"
    ),
    "by its column": (
        "SELECT k, session_window.start, count(DISTINCT v) AS n FROM r "
        "GROUP BY k, session_window(ts, '5 minutes') HAVING count(*) > 1"
    ),
    "below an aggregate": (
        "SELECT k, count(*) AS sessions, max(n) AS longest FROM (SELECT k, count(*) AS n FROM r "
        "GROUP BY k, session_window(ts, '5 minutes')) GROUP BY k"
    ),
}
UNFOLLOWED = {
    "a day": "SELECT k, session_window(ts, '1 day') AS s FROM r GROUP BY k, s",
    "a gap of its own": (
        "SELECT k, session_window(ts, IF(v > 1, '5 minutes', '1 minute')) AS s FROM r GROUP BY k, s"
    ),
}
BEGIN = datetime.fromisoformat("2024-01-01T12:00:00")


@pytest.fixture(scope="module")
def oracle(spark):
    return Oracle(spark)


def visits(random: Random) -> Rows:
    """Some just a gap after one another, some at the same time, some at none."""
    found = []
    for _ in range(random.choice([0, 4, 25])):
        minute = random.choice([None, 0, 1, 2, 5, 6, 10, 12, 15, 20, 21, 30])
        key, value = random.choice([1, 2, None]), random.choice([None, 1, 2, 3])
        if minute is None:
            found.append((key, value, None, None))
            continue
        at = BEGIN + timedelta(minutes=minute, seconds=random.choice([0, 0, 30]))
        found.append((key, value, at.replace(tzinfo=UTC), at))
    return found


@pytest.mark.parametrize("name", QUERIES)
def test_sessions_are_sparks_own(oracle, name):
    for seed in range(6):
        random = Random(seed)
        before = visits(random)
        after = [row for row in before if seed % 3 == 0 or random.random() < 0.7]
        states = {"r": TableStates(DDL, before, after + visits(random)[:4], seed % 3 == 0)}
        tried, failed = oracle.check(QUERIES[name], states, small=seed % 2 == 0)
        assert failed == [], seed
        assert not tried or tried[Technique.REKEY] == "sound"


@pytest.mark.parametrize("name", UNFOLLOWED)
def test_what_is_no_fixed_gap_is_left_to_spark(oracle, name):
    states = {"r": TableStates(DDL, [], [(1, 1, BEGIN.replace(tzinfo=UTC), BEGIN)])}
    tried, failed = oracle.check(UNFOLLOWED[name], states)
    assert failed == []
    assert tried[Technique.REKEY] != "sound"
