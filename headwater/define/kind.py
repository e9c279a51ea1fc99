"""The kinds of objects a user defines."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """An object's kind, in the words of its statement."""

    SOURCE = "SOURCE"
    VIEW = "MATERIALIZED VIEW"
    HANDLER = "HANDLER"
    CONSUMER = "CONSUMER"

    @property
    def words(self) -> tuple[str, ...]:
        """The keywords that name this kind in SQL."""
        return tuple(self.value.split())

    @property
    def noun(self) -> str:
        """The kind as messages call it."""
        return "view" if self is Kind.VIEW else self.value.lower()


def canonical(name: str) -> str:
    """The form under which a name is known; names differ only by more than case."""
    return name.lower()
