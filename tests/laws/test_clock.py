"""Queries that ask the clock: at any time, every sound technique gives the query's own result."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random

import pytest

from headwater.plan.deltas import clock as clock_law
from headwater.plan.planning import Planning
from headwater.testing.oracle import Oracle, TableStates, Times
from headwater.vocabulary.clocks import bound
from headwater.vocabulary.technique import Technique
from tests.laws.clock_words import at

R = "k int, g int, c0 decimal(10,2), d date, ts timestamp"
S = "k int, g int, d date"
DAY = datetime(2026, 11, 15, 9, 30, 0, 250_000, tzinfo=UTC)

VIEWS = {
    "filter by day": "SELECT k, g FROM r WHERE d >= current_date() - 3",
    "bare word": "SELECT k FROM r WHERE d >= current_date - 3 AND g > 0",
    "both ends": (
        "SELECT k, ts FROM r WHERE ts > now() - INTERVAL 2 DAYS AND ts <= current_timestamp() "
        "AND (g IS NULL OR g < 3)"
    ),
    "either": "SELECT k FROM r WHERE g = 1 OR d < current_date()",
    "not true": "SELECT k FROM r WHERE NOT (d > current_date())",
    "group by": (
        "SELECT g, sum(c0) s, count(*) n, avg(c0) a FROM r WHERE d >= current_date() - 3 GROUP BY g"
    ),
    "extrema": "SELECT g, min(c0) lo, max(d) hi FROM r WHERE ts < now() GROUP BY g",
    "one group": "SELECT sum(c0) s, count(*) n FROM r WHERE ts > now() - INTERVAL 1 DAY",
    "having": "SELECT g, count(*) n FROM r WHERE d < curdate() GROUP BY g HAVING count(*) > 1",
    "distinct": "SELECT DISTINCT g FROM r WHERE d < current_date()",
    "join": "SELECT r.k, s.k AS sk FROM r JOIN s ON r.g = s.g AND s.d < current_date()",
    "left join": "SELECT r.k, s.k AS sk FROM r LEFT JOIN s ON r.g = s.g AND s.d < current_date()",
    "both sides": "SELECT r.k FROM r JOIN s ON r.g = s.g AND date_diff(current_date(), r.d) > s.k",
    "exists": (
        "SELECT k FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.g = r.g AND s.d > current_date())"
    ),
    "not in": "SELECT k FROM r WHERE g NOT IN (SELECT g FROM s WHERE d >= current_date())",
    "scalar": "SELECT k, (SELECT max(k) FROM s WHERE s.d < current_date() AND s.g = r.g) m FROM r",
    "window": (
        "SELECT k, sum(c0) OVER (PARTITION BY g) w FROM r WHERE d BETWEEN current_date() - 2 "
        "AND current_date()"
    ),
    "top": "SELECT k, g FROM r WHERE ts < now() ORDER BY k, g, c0, d, ts LIMIT 2",
    "union": (
        "SELECT k FROM r WHERE d < current_date() UNION ALL SELECT k FROM s WHERE d >= curdate()"
    ),
    "except": "SELECT g FROM r WHERE d < current_date() EXCEPT SELECT g FROM s WHERE d < curdate()",
    "cte": (
        "WITH t AS (SELECT g, max(d) m FROM r WHERE d <= current_date() GROUP BY g) "
        "SELECT s.k, m FROM s JOIN t ON s.g = t.g"
    ),
    "shown": "SELECT k, current_date() AS today, now() AS at FROM r",
    "age": (
        "SELECT g, count(*) n FROM (SELECT g, date_diff(current_date(), d) age FROM r) "
        "GROUP BY g, age"
    ),
    "age inside": (
        "SELECT s.k, a.age FROM s JOIN (SELECT g, date_diff(current_date(), d) age FROM r) a "
        "ON s.g = a.g"
    ),
    "counted": "SELECT g, count_if(d < current_date()) n FROM r GROUP BY g",
    "own row": "SELECT r.k FROM r, (SELECT current_date() AS day) t WHERE r.d > t.day",
    "local": "SELECT k FROM r WHERE CAST(ts AS timestamp_ntz) < localtimestamp()",
    "seconds": "SELECT k FROM r WHERE unix_timestamp(ts) < unix_timestamp() - 3600",
}
"""Each kind of place that the clock may stand in."""


def _row_of_r(random: Random):
    day = random.choice([None, *range(-6, 5)])
    when = None if day is None else DAY + timedelta(days=day, hours=random.randint(-20, 20))
    return (
        random.randint(1, 5),
        random.choice([None, 1, 2, 3]),
        Decimal(random.randint(0, 900)) / 100,
        None if day is None else date(2026, 11, 15) + timedelta(days=day),
        None if when is None else when.replace(tzinfo=None),
    )


def _row_of_s(random: Random):
    day = random.choice([None, *range(-6, 5)])
    shown = None if day is None else date(2026, 11, 15) + timedelta(days=day)
    return random.randint(1, 5), random.choice([None, 1, 2, 3]), shown


def _states(random: Random, ddl: str, row, *, still: bool) -> TableStates:
    before = [row(random) for _ in range(random.randint(0, 14))]
    if still:
        return TableStates(ddl, before, list(before))
    kept = [r for r in before if random.random() < 0.7]
    only = random.random() < 0.3
    after = (before if only else kept) + [row(random) for _ in range(random.randint(0, 4))]
    return TableStates(ddl, before, after, inserts_only=only)


def _case(random: Random) -> tuple[dict[str, TableStates], datetime, datetime]:
    tables = {
        "r": _states(random, R, _row_of_r, still=random.random() < 0.4),
        "s": _states(random, S, _row_of_s, still=random.random() < 0.6),
    }
    moved = random.choice([0, 1, 40, 3_600, 86_400, 3 * 86_400, -86_400])
    return tables, DAY, DAY + timedelta(seconds=moved)


@pytest.fixture(scope="module")
def oracle(spark):
    return Oracle(spark)


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_every_place_of_the_clock_under_random_changes(oracle, part: int):
    """Tables and time move at random, together or alone; the old value is never shown."""
    failed, tried = {}, set()
    for seed, (name, sql) in list(enumerate(VIEWS.items()))[part::2]:
        tables, before, now = _case(Random(seed * 7))
        times = Times(before, now, at(sql, now))
        techniques, mismatches = oracle.check(sql, tables, times)
        tried |= {t for t, verdict in techniques.items() if verdict == "sound"}
        if mismatches:
            failed[name] = mismatches
    assert not failed
    assert tried >= {Technique.MERGE, Technique.DELTA, Technique.REKEY, Technique.REBUILD}


BREAKS = {
    "rows it does not know of": ("NOT {c}", "nullif(current_date(), DATE'2026-11-15') > d"),
    "rows that leave": ("{c} IS NULL", "d > current_date() - 3"),
    "the old time": (None, "d > current_date() - 3"),
}


@pytest.mark.parametrize("broken", BREAKS)
def test_a_broken_law_of_the_clock_is_caught(oracle, monkeypatch, broken: str):
    """Whatever the law forgets, the very same check finds it out."""
    fails, condition = BREAKS[broken]
    rows = [(n, 1, Decimal(n), None if n == 9 else date(2026, 11, n), None) for n in range(8, 20)]
    tables = {"r": TableStates(R, rows, rows)}
    sql = f"SELECT k FROM r WHERE {condition}"
    times = Times(DAY, DAY + timedelta(days=2), at(sql, DAY + timedelta(days=2)))
    assert oracle.check(sql, tables, times)[1] == []
    if fails is None:
        monkeypatch.setattr(Planning, "before", lambda self, sql: bound(sql, self.clock))
    else:
        monkeypatch.setattr(
            clock_law, "_fails", lambda cs: "(" + " OR ".join(fails.format(c=c) for c in cs) + ")"
        )
    wrong = {mismatch.technique for mismatch in oracle.check(sql, tables, times)[1]}
    assert Technique.DELTA in wrong


def test_within_a_day_a_view_of_today_is_an_ordinary_one(oracle):
    """Nothing is computed with another value, so even a blind append is open."""
    rows = [(1, 1, Decimal(1), date(2026, 11, 15), None)]
    tables = {"r": TableStates(R, rows, rows * 2, inserts_only=True)}
    sql = "SELECT k, current_date() AS today FROM r WHERE d >= current_date() - 3"
    later = DAY + timedelta(hours=2)
    techniques, mismatches = oracle.check(sql, tables, Times(DAY, later, at(sql, later)))
    assert mismatches == []
    assert techniques[Technique.APPEND] == "sound"
    tomorrow = DAY + timedelta(days=1)
    techniques, mismatches = oracle.check(sql, tables, Times(DAY, tomorrow, at(sql, tomorrow)))
    assert mismatches == []
    assert techniques[Technique.DELTA] == "CLOCK_MOVED"


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [("d < 'today'", "CLOCK_DEPENDENT"), ("concat(k, '') < 'today'", "sound")],
)
def test_a_word_that_spark_takes_for_a_date(oracle, condition: str, verdict: str):
    """`'today'` beside a date asks the clock, beside a string it does not."""
    rows = [(1, 1, Decimal(1), date(2026, 11, 15), None)]
    tables = {"r": TableStates(R, rows, rows * 2)}
    techniques, mismatches = oracle.check(f"SELECT k FROM r WHERE {condition}", tables)
    assert mismatches == []
    assert techniques[Technique.DELTA] == verdict
