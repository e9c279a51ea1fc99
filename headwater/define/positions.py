"""Offsets in a text to the lines and columns people count."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from headwater.vocabulary.location import Location


@dataclass(frozen=True)
class Positions:
    """The line starts of a text whose first character stands at `base`."""

    base: Location
    line_starts: tuple[int, ...]

    @classmethod
    def of(cls, text: str, base: Location) -> Positions:
        starts = [0]
        starts.extend(at + 1 for at, character in enumerate(text) if character == "\n")
        return cls(base, tuple(starts))

    def at(self, offset: int) -> Location:
        """The position of the character at an offset."""
        line = bisect_right(self.line_starts, offset)
        return shifted(self.base, line, offset - self.line_starts[line - 1] + 1)


def shifted(base: Location, line: int, column: int) -> Location:
    """A line and column counted from 1 at `base`, counted in the file instead."""
    if line == 1:
        return Location(base.file, base.line, base.column + column - 1)
    return Location(base.file, base.line + line - 1, column)


def within(base: Location, text: str, offset: int) -> Location:
    """The position of an offset in a text whose first character stands at `base`."""
    before = text[:offset]
    return shifted(base, before.count("\n") + 1, offset - before.rfind("\n"))
