"""Backlogs are worked off in bounded steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.capture.window import Limits, bounded_window

if TYPE_CHECKING:
    from conftest import WrittenLog


@pytest.fixture
def backlog(written: WrittenLog) -> WrittenLog:
    """An hour and a half of appends, one every ten minutes, ten rows and 1,000 bytes each."""
    written.create()
    for n in range(1, 10):
        written.append(f"f{n}", rows=10, minutes=10 * n)
    return written


def steps(backlog: WrittenLog, **limits: float | None) -> list[int]:
    found = [0]
    while found[-1] < backlog.version:
        reached = bounded_window(backlog.log, found[-1], backlog.version, Limits(**limits))  # type: ignore[arg-type]
        assert reached > found[-1]
        found.append(reached)
    return found[1:]


def test_half_an_hour_at_a_time(backlog: WrittenLog) -> None:
    """By default a window covers at most 30 minutes of commit time."""
    assert steps(backlog) == [4, 8, 9]


@pytest.mark.parametrize("limit", [{"rows": 25}, {"bytes": 2500}])
def test_rows_and_bytes_bound_a_window(backlog: WrittenLog, limit: dict[str, float]) -> None:
    """Whichever limit comes first ends the window."""
    assert steps(backlog, **limit) == [2, 4, 6, 8, 9]


def test_time_alone_divides_only_what_is_worth_it(backlog: WrittenLog) -> None:
    """A window goes on past its time until it holds a tenth of the rows or bytes it may hold."""
    assert steps(backlog, rows=10_000, bytes=10**9) == [9]
    assert steps(backlog, rows=500) == [5, 9]
    assert steps(backlog, rows=10_000, bytes=50_000) == [5, 9]
    assert steps(backlog, rows=100) == [4, 8, 9]


def test_one_commit_always_fits(backlog: WrittenLog) -> None:
    """A commit above every limit is taken alone, so a backlog always shrinks."""
    assert steps(backlog, rows=1) == list(range(1, 10))


def test_no_limits_no_division(backlog: WrittenLog) -> None:
    """Without limits the window reaches to the newest version."""
    assert steps(backlog, minutes=None) == [9]


def test_commits_without_data_cost_nothing(written: WrittenLog) -> None:
    """An OPTIMIZE that rewrites everything does not fill a window."""
    written.create()
    written.append("a", rows=5)
    written.commit(written.add("b", 5, data_change=False), operation="OPTIMIZE")
    written.append("c", rows=5)
    assert bounded_window(written.log, 0, 3, Limits(rows=10)) == 3


def test_nothing_new_is_an_empty_window(backlog: WrittenLog) -> None:
    """A window that starts at the newest version ends there."""
    assert bounded_window(backlog.log, 9, 9, Limits()) == 9


def test_a_log_with_holes_is_not_divided(backlog: WrittenLog) -> None:
    """Where history is gone the view is rebuilt, and then at the newest version."""
    backlog.file(1).unlink()
    assert bounded_window(backlog.log, 0, 9, Limits()) == 9
