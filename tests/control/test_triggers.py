"""When a view runs next, on a given clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.control.triggers import (
    MOST_COUNTED,
    Cron,
    Downstream,
    Every,
    Greedy,
    Manual,
    NextRun,
    OnChange,
    TargetLag,
    Together,
    Trigger,
    effective_lags,
    next_run,
    trigger_of,
)
from headwater.define.definitions import Definitions
from headwater.define.parse import parse
from headwater.define.statements import CreateView
from headwater.define.stored import from_json, to_json

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
ZURICH = ZoneInfo("Europe/Zurich")


def after(trigger: Trigger, start: float | None, success: float | None, now: float) -> NextRun:
    """Seconds from noon in, seconds from noon out."""

    def moment(seconds: float | None) -> datetime | None:
        return None if seconds is None else NOON + seconds * SECOND

    return next_run(
        trigger, last_start=moment(start), last_success=moment(success), now=NOON + now * SECOND
    )


def at(seconds: float, missed: int = 0) -> NextRun:
    return NextRun(NOON + seconds * SECOND, missed)


# --- several at once ---------------------------------------------------------------------------


def test_the_first_of_several_counts() -> None:
    """Views of a handler run when one of them is due."""
    both = Together((Every(10 * SECOND), Every(25 * SECOND), OnChange()))
    assert after(both, 0, 1, 5) == at(10)
    assert after(both, 0, 1, 31) == at(31, missed=2)
    assert after(Together((OnChange(), Every(10 * SECOND))), None, None, 3) == at(3)
    assert after(Together((OnChange(), Greedy())), 0, 1, 5) == NextRun(None)


# --- not by the clock ---------------------------------------------------------------------------


@pytest.mark.parametrize("trigger", [Manual(), Downstream()])
def test_some_are_never_scheduled(trigger: Trigger) -> None:
    """S8: without a next time a view is not scheduled, whatever happened before."""
    assert after(trigger, None, None, 0) == NextRun(None)
    assert after(trigger, 0, 5, 1000) == NextRun(None)


@pytest.mark.parametrize("trigger", [OnChange(), Greedy()])
def test_a_view_that_follows_changes_runs_at_once_when_new(trigger: Trigger) -> None:
    """S5: a new view's first run is now; after that only a commit makes it run."""
    assert after(trigger, None, None, 7) == at(7)
    assert after(trigger, None, 3, 7) == NextRun(None)
    assert after(trigger, 3, None, 7) == NextRun(None)


# --- intervals ----------------------------------------------------------------------------------


def test_an_interval_counts_from_the_last_start() -> None:
    """A run of 2 s at an interval of 5 s leaves 3 s."""
    assert after(Every(5 * SECOND), 0, 2, 2) == at(5)
    assert after(Every(5 * SECOND), None, 2, 3) == at(7), "the build counts as a start"
    assert after(Every(5 * SECOND), None, None, 3) == at(3)


def test_an_interval_that_is_due_is_not_missed() -> None:
    """Woken a little late, the time that has come runs and counts as kept."""
    assert after(Every(5 * SECOND), 0, 2, 5) == at(5)
    assert after(Every(5 * SECOND), 0, 2, 5.4) == at(5.4)


def test_a_run_longer_than_its_interval() -> None:
    """S54: interval 5 s, run 12 s: two times missed, one run now, and none before the end."""
    assert after(Every(5 * SECOND), 0, 12, 12) == at(12, missed=2)
    assert after(Every(5 * SECOND), 12, 24, 24) == at(24, missed=2)


def test_a_long_absence_runs_once() -> None:
    """S8: a next time far in the past runs once, now, and the others are counted."""
    assert after(Every(5 * SECOND), 0, 2, 100) == at(100, missed=19)
    assert after(Every(5 * SECOND), 100, 101, 101) == at(105)


def test_a_clock_that_ran_ahead_does_not_hold_a_view_up() -> None:
    """A start that lies in the future counts as now."""
    assert after(Every(5 * SECOND), 9000, 9001, 10) == at(15)
    assert after(TargetLag(5 * SECOND), 9000, 9001, 10) == at(15)


def test_times_without_a_zone_are_refused() -> None:
    """A naive datetime is a mistake of ours, not a guess of the scheduler's."""
    with pytest.raises(ValueError, match="no time zone"):
        next_run(Manual(), last_start=None, last_success=None, now=datetime(2030, 1, 1))  # noqa: DTZ001


# --- lag ----------------------------------------------------------------------------------------


def test_a_target_lag_leaves_time_for_the_run() -> None:
    """Content as of 0 that took 10 s must be replaced by 60, so the next run starts at 50."""
    assert after(TargetLag(60 * SECOND), 0, 10, 10) == at(50)
    assert after(TargetLag(60 * SECOND), 0, 10, 55) == at(55)
    assert after(TargetLag(60 * SECOND), 0, 10, 200) == at(200, missed=3)


def test_a_run_longer_than_its_lag_starts_when_it_ends() -> None:
    """It cannot be kept, so runs follow each other, and none is early."""
    assert after(TargetLag(60 * SECOND), 0, 90, 90) == at(90, missed=1)


def test_a_failed_run_tells_no_duration() -> None:
    """After a failure the lag itself is the wait; the retry decides what comes sooner."""
    assert after(TargetLag(60 * SECOND), 100, 10, 101) == at(160)


# --- cron ---------------------------------------------------------------------------------------


def cron(expression: str, start: datetime, now: datetime, zone: str = "Europe/Zurich") -> NextRun:
    return next_run(Cron(expression, zone), last_start=start, last_success=start, now=now)


def test_cron_goes_by_the_zone() -> None:
    """Six o'clock in Zurich is five in UTC in winter and four in summer."""
    winter = datetime(2030, 1, 1, 12, tzinfo=UTC)
    summer = datetime(2030, 7, 1, 12, tzinfo=UTC)
    assert cron("0 6 * * *", winter, winter).at == datetime(2030, 1, 2, 5, tzinfo=UTC)
    assert cron("0 6 * * *", summer, summer).at == datetime(2030, 7, 2, 4, tzinfo=UTC)
    assert cron("0 6 * * *", winter, winter, "UTC").at == datetime(2030, 1, 2, 6, tzinfo=UTC)


def test_a_new_cron_view_waits_for_its_time() -> None:
    """Nothing was missed before the view was there."""
    found = next_run(Cron("0 6 * * *"), last_start=None, last_success=None, now=NOON)
    assert found == NextRun(datetime(2030, 1, 2, 6, tzinfo=UTC))


def test_a_missed_cron_time_runs_once() -> None:
    """S4, S8: after three days away it runs once, now; the day after, at its time."""
    start = datetime(2030, 1, 1, 6, tzinfo=UTC)
    now = datetime(2030, 1, 4, 9, tzinfo=UTC)
    assert cron("0 6 * * *", start, now, "UTC") == NextRun(now, missed=2)
    assert cron("0 6 * * *", now, now, "UTC") == NextRun(datetime(2030, 1, 5, 6, tzinfo=UTC))


def test_counting_missed_cron_times_is_bounded() -> None:
    """A year of minutes is not counted one by one."""
    found = cron("* * * * *", NOON - timedelta(days=365), NOON, "UTC")
    assert found == NextRun(NOON, MOST_COUNTED - 1)


def test_a_time_that_the_clocks_leave_out_runs_after_the_gap() -> None:
    """On 31 March 2030 Zurich has no 02:30: it runs at 03:00, once, and the next day at 02:30."""
    start = datetime(2030, 3, 30, 12, tzinfo=ZURICH)
    first = cron("30 2 * * *", start, start).at
    assert first == datetime(2030, 3, 31, 1, tzinfo=UTC)
    assert cron("30 2 * * *", first, first).at == datetime(2030, 4, 1, 0, 30, tzinfo=UTC)


def test_a_time_that_the_clocks_repeat_runs_once() -> None:
    """On 27 October 2030 Zurich has 02:30 twice: it runs at the first only."""
    start = datetime(2030, 10, 26, 12, tzinfo=ZURICH)
    first = cron("30 2 * * *", start, start).at
    assert first == datetime(2030, 10, 27, 0, 30, tzinfo=UTC)
    assert cron("30 2 * * *", first, first).at == datetime(2030, 10, 28, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize("day", [datetime(2030, 3, 31), datetime(2030, 10, 27)])  # noqa: DTZ001
def test_every_quarter_of_an_hour_is_just_that(day: datetime) -> None:
    """A star follows the real hours: no quarter is left out or doubled at either change."""
    moment = day.replace(tzinfo=ZURICH).astimezone(UTC)
    for _ in range(4 * 26):
        following = cron("*/15 * * * *", moment, moment).at
        assert following == moment + timedelta(minutes=15)
        moment = following


# --- what holds for all -------------------------------------------------------------------------

_MOMENTS = st.integers(0, 10**7).map(lambda seconds: NOON + seconds * SECOND)
_INTERVALS = st.integers(1, 10**6).map(lambda seconds: seconds * SECOND)
_TRIGGERS = st.one_of(
    st.sampled_from([OnChange(), Greedy(), Manual(), Downstream(), Cron("*/7 3 * * MON-FRI")]),
    _INTERVALS.map(Every),
    _INTERVALS.map(TargetLag),
)


@given(_TRIGGERS, st.none() | _MOMENTS, st.none() | _MOMENTS, _MOMENTS)
def test_no_next_time_is_in_the_past(
    trigger: Trigger, start: datetime | None, success: datetime | None, now: datetime
) -> None:
    """S8: a next time is now or later, misses are never negative, and after a run it is later."""
    found = next_run(trigger, last_start=start, last_success=success, now=now)
    assert found.at is None or found.at >= now
    assert found.missed >= 0
    if found.at is not None:
        again = next_run(trigger, last_start=now, last_success=now, now=now)
        assert again.at is None or again.at > now


# --- from definitions ---------------------------------------------------------------------------


def project(*views: str) -> Definitions:
    text = ";\n".join(f"CREATE MATERIALIZED VIEW {view}" for view in views)
    parsed = parse(text)
    assert parsed.problems == ()
    return Definitions.of(
        made.definition for made in parsed.statements if isinstance(made, CreateView)
    )


def test_a_view_says_what_makes_it_run() -> None:
    """Each clause of the SQL has its trigger; a lag stands before the default REFRESH."""
    made = project(
        "a AS SELECT 1",
        "b REFRESH EVERY INTERVAL 5 SECONDS AS SELECT 1",
        "c REFRESH CRON '0 6 * * *' TIME ZONE 'Europe/Zurich' AS SELECT 1",
        "d TARGET LAG INTERVAL 1 MINUTE AS SELECT 1",
        "e TARGET LAG DOWNSTREAM AS SELECT 1",
        "f REFRESH MANUAL AS SELECT 1",
    )
    assert [str(trigger_of(view)) for view in made.views.values()] == [
        "ON CHANGE",
        "EVERY INTERVAL 5 SECONDS",
        "CRON '0 6 * * *' TIME ZONE 'Europe/Zurich'",
        "TARGET LAG INTERVAL 1 MINUTE",
        "TARGET LAG DOWNSTREAM",
        "MANUAL",
    ]
    for view in made.views.values():
        assert from_json(to_json(view)) == view


def test_downstream_is_the_smallest_lag_below() -> None:
    """DOWNSTREAM goes through DOWNSTREAM and ON CHANGE views, and stops at a lag of its own."""
    made = project(
        "bottom TARGET LAG DOWNSTREAM AS SELECT 1",
        "middle TARGET LAG DOWNSTREAM AS SELECT * FROM bottom",
        "following AS SELECT * FROM bottom",
        "slow TARGET LAG INTERVAL 1 HOUR AS SELECT * FROM middle",
        "fast TARGET LAG INTERVAL 5 MINUTES AS SELECT * FROM following",
        "behind_slow TARGET LAG INTERVAL 1 SECOND AS SELECT * FROM slow",
    )
    lags = effective_lags(made)
    assert lags == {
        "bottom": timedelta(minutes=5),
        "middle": timedelta(hours=1),
        "following": None,
        "slow": timedelta(hours=1),
        "fast": timedelta(minutes=5),
        "behind_slow": timedelta(seconds=1),
    }
    assert trigger_of(made.views["middle"], lags) == TargetLag(timedelta(hours=1))


def test_downstream_without_a_lag_below_is_unscheduled() -> None:
    """Nobody needs it by a time, or those below move on times of their own."""
    made = project(
        "alone TARGET LAG DOWNSTREAM AS SELECT 1",
        "above TARGET LAG DOWNSTREAM AS SELECT 1",
        "hourly REFRESH EVERY INTERVAL 1 HOUR AS SELECT * FROM above",
        "below TARGET LAG INTERVAL 1 MINUTE AS SELECT * FROM hourly",
    )
    lags = effective_lags(made)
    assert (lags["alone"], lags["above"]) == (None, None)
    found = trigger_of(made.views["above"], lags)
    assert found == Downstream()
    assert next_run(found, last_start=None, last_success=None, now=NOON) == NextRun(None)


@pytest.mark.parametrize(
    ("clause", "code", "column"),
    [
        ("REFRESH EVERY INTERVAL 0 SECONDS", "INVALID_INTERVAL", 42),
        ("REFRESH EVERY INTERVAL 900000 DAYS", "INVALID_INTERVAL", 42),
        ("REFRESH EVERY INTERVAL 5 BLINKS", "INVALID_INTERVAL", 53),
        ("REFRESH CRON '61 * * * *'", "INVALID_CRON", 41),
        ("REFRESH CRON '0 0 30 2 */2'", "INVALID_CRON", 41),
        ("REFRESH CRON '0 6 * * *' TIME ZONE 'Mars/North'", "INVALID_TIME_ZONE", 63),
        ("REFRESH CRON '0 6 * * *' TIME ZONE '../etc'", "INVALID_TIME_ZONE", 63),
        ("REFRESH CRON '0 6 * * *' TIME ZONE 'Europe'", "INVALID_TIME_ZONE", 63),
    ],
)
def test_bad_schedules_are_told_with_their_place(clause: str, code: str, column: int) -> None:
    """S55: a bad interval, cron expression or time zone is a coded error where it stands."""
    (problem,) = parse(f"CREATE MATERIALIZED VIEW v {clause} AS SELECT 1").problems
    assert (problem.code, problem.location.column) == (code, column)
