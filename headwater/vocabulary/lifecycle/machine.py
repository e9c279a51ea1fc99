"""A table of allowed moves between states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from headwater.vocabulary.errors import StateConflict


@dataclass(frozen=True)
class Machine:
    """Every move that is allowed, each with its letter in the drawing and what causes it.

    `start` is where a life begins. A state without moves is terminal.
    """

    name: str
    start: StrEnum
    moves: Mapping[tuple[StrEnum, StrEnum], str]

    @property
    def states(self) -> tuple[StrEnum, ...]:
        return tuple(type(self.start))

    def allows(self, before: StrEnum, after: StrEnum) -> bool:
        return (before, after) in self.moves

    def is_terminal(self, state: StrEnum) -> bool:
        return not any(before is state for before, _ in self.moves)

    def check(self, before: StrEnum, after: StrEnum) -> None:
        """Refuse a move that the table does not have."""
        if not self.allows(before, after):
            raise StateConflict(f"a {self.name} that is {before} cannot become {after}")

    def sources(self, after: StrEnum) -> tuple[str, ...]:
        """The states from which a state can be reached, as the ledger writes them."""
        return tuple(before.value for before, to in self.moves if to is after)
