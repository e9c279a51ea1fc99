"""The state machines and their page."""

from __future__ import annotations

import inspect
import re
from itertools import product
from pathlib import Path

import pytest

from headwater.vocabulary.errors import StateConflict
from headwater.vocabulary.lifecycle import MACHINES, Machine

PAGE = (Path(__file__).parents[2] / "docs" / "states.md").read_text("utf-8")


@pytest.fixture(params=MACHINES, ids=lambda machine: machine.name)
def machine(request: pytest.FixtureRequest) -> Machine:
    return request.param


def chapter(machine: Machine) -> str:
    found = re.search(rf"^## {machine.name}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found.group(1)


def test_every_move_not_in_the_table_is_refused(machine: Machine) -> None:
    """All pairs of states: those in the table pass, all others raise."""
    for before, after in product(machine.states, repeat=2):
        if machine.allows(before, after):
            machine.check(before, after)
        else:
            with pytest.raises(StateConflict, match=f"{before}.*{after}"):
                machine.check(before, after)


def test_terminal_states_have_no_moves_and_every_state_can_be_reached(machine: Machine) -> None:
    """What the enum calls terminal is where no arrow starts, and there is no island."""
    reached = {machine.start}
    for _ in machine.states:
        reached |= {after for before, after in machine.moves if before in reached}
    assert reached == set(machine.states)
    for state in machine.states:
        leaves = any(before is state for before, _ in machine.moves)
        assert machine.is_terminal(state) is not leaves
        assert state.is_terminal is not leaves  # type: ignore[attr-defined]


def test_every_state_says_what_it_means(machine: Machine) -> None:
    """One comment per state, in the file and in the page's table, in the same words."""
    source = inspect.getsource(type(machine.start))
    for state in machine.states:
        comment = re.search(rf'^    {state.name} = "{state.value}"  # (.+)$', source, re.MULTILINE)
        assert comment is not None, state
        assert f"| `{state.value}` | {comment.group(1)} |" in chapter(machine)


def test_the_drawing_has_exactly_the_moves(machine: Machine) -> None:
    """Arrows, letters and causes of the page are those of the table."""
    text = chapter(machine)
    drawn = set(re.findall(r"^  (\w+) --> (\w+): (\w)$", text, re.MULTILINE))
    moves = {
        (before.value, after.value, why.partition(":")[0])
        for (before, after), why in machine.moves.items()
    }
    assert drawn == moves
    assert f"[*] --> {machine.start.value}" in text
    ends = set(re.findall(r"^  (\w+) --> \[\*\]$", text, re.MULTILINE))
    assert ends == {state.value for state in machine.states if machine.is_terminal(state)}
    for why in machine.moves.values():
        letter, _, cause = why.partition(": ")
        assert f"| {letter} | {cause} |" in text


def test_letters_are_used_once(machine: Machine) -> None:
    """An arrow can be named by its letter."""
    letters = [why.partition(":")[0] for why in machine.moves.values()]
    assert len(set(letters)) == len(letters)
