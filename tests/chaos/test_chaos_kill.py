"""kill -9 at every named step and at random moments."""

from __future__ import annotations

import itertools

import pytest

from tests.chaos.harness import STEPS, VIEWS, Arena

pytestmark = pytest.mark.slow  # each starts processes of its own: `make chaos`

RANDOM_KILLS = 10
_VIEWS = itertools.cycle(VIEWS)


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_a_named_step(arena: Arena, step: str) -> None:
    """S17: killed at a step, the attempt is orphaned, the view is right, the next one goes on."""
    arena.kill_at(step, next(_VIEWS))


@pytest.mark.parametrize("step", ["commit", "committed"])
def test_killed_while_building(arena: Arena, step: str) -> None:
    """S17: a build that was killed is had by building again, or was already had."""
    arena.kill_build(step)


@pytest.mark.parametrize("number", range(RANDOM_KILLS))
def test_killed_at_a_random_moment(arena: Arena, number: int) -> None:
    """S17: killed at any moment, no commit is lost or doubled and nothing stays claimed."""
    arena.kill_some_time()
