"""The words a statement's header is made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class WordKind(StrEnum):
    """How a word was written, which decides what it may stand for."""

    PLAIN = "plain"  # a keyword or an unquoted name
    QUOTED = "quoted"  # a name in backquotes
    STRING = "string"
    NUMBER = "number"
    SYMBOL = "symbol"
    END = "end"  # after the last word of a statement


@dataclass(frozen=True, slots=True)
class Word:
    """One word; `text` is its meaning, `start` and `end` the half-open span it was written in."""

    kind: WordKind
    text: str
    start: int
    end: int

    def is_keyword(self, keyword: str) -> bool:
        return self.kind is WordKind.PLAIN and self.text.upper() == keyword

    def __str__(self) -> str:
        match self.kind:
            case WordKind.END:
                return "the end of the statement"
            case WordKind.STRING:
                return f"'{self.text}'"
            case _:
                return f"`{self.text}`"
