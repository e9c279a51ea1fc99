"""kill -9 at every named step and at random moments; two processes on one view."""

from __future__ import annotations

import itertools

import pytest

from headwater.vocabulary.receipt import AttemptState
from tests.chaos.arena import STEPS, VIEWS, Arena
from tests.chaos.harness import Victim

RANDOM_KILLS = 8
"""Two more come at the end of the race: of processes that have a Spark of their own."""
WINS = 3
"""So often each of two processes refreshes the view that both want."""
HARMLESS = {"REFRESH_RUNNING", "REFRESH_FENCED", "FRONTIER_UNSETTLED"}

_VIEWS = itertools.cycle(VIEWS)


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_a_named_step(arena: Arena, step: str) -> None:
    """S17: killed at a step, the attempt is orphaned, the view is right, the next one goes on."""
    arena.prepare(with_spark=False)
    arena.kill_at(step, next(_VIEWS))


@pytest.mark.parametrize("number", range(RANDOM_KILLS))
def test_killed_at_a_random_moment(arena: Arena, number: int) -> None:
    """S17: killed at any moment, no commit is lost or doubled and nothing stays claimed."""
    arena.prepare(with_spark=False)
    arena.kill_some_time(*(VIEWS if number % 4 == 0 else [next(_VIEWS)]))


@pytest.mark.parametrize("step", ["plan", "commit"])
def test_interrupted_in_the_middle(arena: Arena, step: str) -> None:
    """S16: ^C stops a refresh cleanly: nothing stays claimed, and the history says what landed."""
    arena.prepare(with_spark=False)
    state = arena.interrupt(step, next(_VIEWS))
    assert state in {AttemptState.CANCELED, AttemptState.SUCCEEDED}


@pytest.mark.parametrize(
    ("step", "known"),
    [("commit", False), ("committed", False), ("commit", True), ("publish", True)],
)
def test_killed_while_it_defines(arena: Arena, step: str, known: bool) -> None:
    """S17: of a view built, or built anew, by a process that died one definition holds whole."""
    arena.prepare(with_spark=False)
    arena.kill_definition(step, known=known)


def test_two_processes_refresh_one_view(arena: Arena) -> None:
    """S21: no step is committed twice, the loser is told so, and the view is right at the end.

    First with one ledger, then with a ledger each: there the claim protects nobody, only the fence
    in the view's own table does. Then both are killed, with their Spark.
    """
    racers = [arena.victim(with_spark=True), arena.victim(with_spark=True)]
    judge_race(arena, racers)
    racers[1].say(open=f"sqlite:///{arena.lake.folder}/other.db")
    assert racers[1].hear() == {"done": True}
    judge_race(arena, racers)
    racers[1].kill()
    racers[1].bury()
    arena.change()
    racers[0].say(refresh="sums", die="commit+0.1", whole=True)
    racers[0].bury()
    arena.judge(racers[0], ["sums"])


def judge_race(arena: Arena, racers: list[Victim]) -> None:
    outcomes = arena.race(racers, WINS)
    errors = {o["error"]: o["what"] for mine in outcomes for o in mine if "error" in o}
    assert errors.keys() <= HARMLESS, errors
    landed = [o["outcome"] for mine in outcomes for o in mine if "outcome" in o]
    written = [r["sequence"] for r in landed if r["technique"] != "skip"]
    assert len(set(written)) == len(written) > 1
    arena.refresh("sums")
    arena.witness.check(["sums"])
    states = {a.state for a in arena.lake.hw.history("sums", limit=1000)}
    assert AttemptState.RUNNING not in states
