"""Two processes that refresh one view at the same time."""

from __future__ import annotations

import time
from typing import Any

import pytest

from headwater.vocabulary.receipt import AttemptState
from tests.chaos.harness import Arena, Victim, assert_one_commit_per_sequence

pytestmark = pytest.mark.slow  # each starts processes of its own: `make chaos`

SECONDS = 15


@pytest.mark.parametrize("ledgers", ["one ledger", "a ledger each"])
def test_two_processes_refresh_one_view(arena: Arena, ledgers: str) -> None:
    """S21: no step is committed twice, the loser is told so, and the view is right at the end.

    With a ledger each the claim protects nobody: only the fence in the view's own table does.
    """
    lake = arena.lake
    other = f"sqlite:///{lake.folder}/other.db" if ledgers == "a ledger each" else None
    outcomes = raced(arena, [Victim(lake.folder), Victim(lake.folder, other)], SECONDS)
    errors = {o["error"] for mine in outcomes for o in mine if "error" in o}
    assert errors <= {"REFRESH_RUNNING", "REFRESH_FENCED", "FRONTIER_UNSETTLED"}
    landed = [o["outcome"] for mine in outcomes for o in mine if "outcome" in o]
    written = [r["sequence"] for r in landed if r["technique"] != "skip" and r["rows_inserted"]]
    assert len(set(written)) == len(written) > 1
    lake.hw.refresh("sums")
    assert_one_commit_per_sequence(lake, "sums")
    lake.assert_right("sums")
    states = {a.state for a in lake.hw.history("sums", limit=1000)}
    assert AttemptState.RUNNING not in states


def raced(arena: Arena, victims: list[Victim], seconds: float) -> list[list[dict[str, Any]]]:
    """Both refresh without pause; each makes changes of its own so that there is always work."""
    for victim in victims:
        victim.await_ready()
    until = time.time() + seconds
    for victim in victims:
        victim.say(race={"view": "sums", "until": until, "sql": arena.changes()})
    found: list[list[dict[str, Any]]] = []
    for victim in victims:
        mine = []
        while (answer := victim.hear()) is not None and "done" not in answer:
            mine.append(answer)
        found.append(mine)
    for victim in victims:
        victim.kill(whole=True)
        victim.bury()
    return found
