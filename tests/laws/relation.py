"""What a random query hands to the one around it."""

from __future__ import annotations

from dataclasses import dataclass

from tests.laws.schema import Column

Scope = list[tuple[str, Column]]
"""(alias, column) of everything that may be named."""


@dataclass(frozen=True)
class Relation:
    """Something that can stand in FROM: its SQL and the columns it offers."""

    sql: str
    columns: tuple[Column, ...]

    def of_type(self, *types: str) -> list[Column]:
        return [c for c in self.columns if c.type in types]
