"""What a refresh made on its way is gone with it, however it ended."""

from __future__ import annotations

import pytest

from headwater import refresh
from headwater.attempt import landing
from headwater.plan import planner
from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import Lake


@pytest.fixture
def sessions(monkeypatch):
    """The sessions that refreshes had for themselves."""
    found = []
    isolated = landing.isolated

    def watched(spark):
        found.append(isolated(spark))
        return found[-1]

    monkeypatch.setattr(landing, "isolated", watched)
    return found


def test_relations_of_a_refresh_are_gone(lake: Lake, sessions) -> None:
    """Threads of Spark may know the session for long; its rows are in nobody's memory."""
    lake.source("s", "k INT, v INT", [(1, 1), (2, 2)])
    lake.view("sums", "SELECT k, sum(v) AS t FROM s GROUP BY k", "POLICY INCREMENTAL")
    lake.insert("s", (1, 7))
    assert lake.refresh("sums")["sums"].technique is Technique.MERGE
    lake.assert_right("sums")
    assert sessions
    assert [held(session) for session in sessions] == [[]] * len(sessions)


def test_relations_of_one_that_failed_are_gone(lake: Lake, sessions, monkeypatch) -> None:
    """It was given up while it ran; the rebuild had a session of its own."""
    monkeypatch.setattr(planner, "_REBUILD_MARGIN", 100.0)
    monkeypatch.setattr(refresh, "_LEAST_PATIENCE", 0.0)
    monkeypatch.setattr(refresh, "_PATIENCE", 0.0)
    lake.source("s", "k INT, v INT", [(1, 1), (2, 2)])
    lake.view("sums", "SELECT k, sum(v) AS t FROM s GROUP BY k", "")
    lake.insert("s", (1, 7))
    assert lake.refresh("sums")["sums"].technique is Technique.REBUILD
    lake.assert_right("sums")
    assert [held(session) for session in sessions] == [[]] * len(sessions)


def held(session) -> list[str]:
    return [table.name for table in session.catalog.listTables() if table.isTemporary]
