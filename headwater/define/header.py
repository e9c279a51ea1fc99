"""A cursor over the words of one statement, with errors that say what was expected."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from headwater.define.diagnostics import Problem, error, suggest
from headwater.define.kind import canonical
from headwater.define.positions import Positions
from headwater.define.words import Word, WordKind
from headwater.vocabulary.location import Location

_NAME = re.compile(r"[\w$][\w$-]*")
_LONGEST_NAME = 128
_NEVER_NAMES = frozenset({"AS", "FROM", "ON", "SELECT", "SET"})
"""Where a name is missing one of these comes next; in backquotes they are names like others."""


class UnexpectedError(Exception):
    """The statement stops following the grammar here; whoever can go on reading catches it."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Header:
    """Reads a statement word by word; problems that need not stop the reading gather in it."""

    def __init__(self, words: Sequence[Word], text: str, positions: Positions) -> None:
        end = words[-1].end
        self._words = (*words, Word(WordKind.END, "", end, end))
        self._next = 0
        self._positions = positions
        self._text = text
        self.problems: list[Problem] = []

    @property
    def word(self) -> Word:
        """The next word, not yet taken."""
        return self._words[self._next]

    @property
    def at_end(self) -> bool:
        return self.word.kind is WordKind.END

    @property
    def start(self) -> Location:
        """Where the statement begins."""
        return self._positions.at(self._words[0].start)

    @property
    def here(self) -> Location:
        """Where the next word stands."""
        return self._positions.at(self.word.start)

    @property
    def statement(self) -> str:
        """The whole statement as it was written."""
        return self._text[self._words[0].start : self._words[-1].end]

    @property
    def rest(self) -> str:
        """What was written from the next word on."""
        return self._text[self.word.start : self._words[-1].end]

    def at(self, *keywords: str) -> bool:
        """Tell whether these keywords come next."""
        ahead = self._words[self._next : self._next + len(keywords)]
        return len(ahead) == len(keywords) and all(
            word.is_keyword(keyword) for word, keyword in zip(ahead, keywords, strict=True)
        )

    def take(self, *keywords: str) -> bool:
        """Take these keywords if they come next."""
        found = self.at(*keywords)
        if found:
            self._next += len(keywords)
        return found

    def expect(self, *keywords: str) -> None:
        """Take these keywords, or refuse the statement at the first that differs."""
        for keyword in keywords:
            if not self.take(keyword):
                raise self.unexpected(keyword, candidates=[keyword])

    def take_symbol(self, symbol: str) -> bool:
        found = self.word.kind is WordKind.SYMBOL and self.word.text == symbol
        if found:
            self._next += 1
        return found

    def expect_symbol(self, symbol: str) -> None:
        if not self.take_symbol(symbol):
            raise self.unexpected(f"`{symbol}`")

    def expect_end(self) -> None:
        if not self.at_end:
            raise self.unexpected("the end of the statement")

    def advance(self) -> Word:
        """Take whatever comes next."""
        word = self.word
        if not self.at_end:
            self._next += 1
        return word

    def skip_until(self, stop: Callable[[Header], bool]) -> None:
        """Leave out words up to one where reading can go on."""
        while not self.at_end and not stop(self):
            self._next += 1

    def string(self, what: str) -> str:
        """Take a string literal."""
        if self.word.kind is not WordKind.STRING:
            raise self.unexpected(f"{what} in quotes")
        return self.advance().text

    def integer(self, what: str) -> int:
        """Take a whole number that is not negative."""
        if self.word.kind is not WordKind.NUMBER or not self.word.text.isdecimal():
            raise self.unexpected(what)
        return int(self.advance().text)

    def identifier(self, what: str) -> str:
        """Take a name as it was written, without its backquotes."""
        word = self.word
        if word.kind not in {WordKind.PLAIN, WordKind.QUOTED}:
            raise self.unexpected(what)
        if not word.text:
            raise self.refused("INVALID_NAME", "a name cannot be empty")
        self.advance()
        return word.text + self._dollar_parts(word)

    def object_name(self, what: str) -> str:
        """Take the name of something Headwater keeps, fit for a folder and a table alike."""
        word = self.word
        if word.kind is WordKind.PLAIN and word.text.upper() in _NEVER_NAMES:
            raise self.unexpected(what)
        name = self.identifier(what)
        if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
            hint = f"use letters, digits, _, $ and -, at most {_LONGEST_NAME} of them"
            raise self.refused("INVALID_NAME", f"`{name}` cannot be a name", hint, at=word)
        if self.take_symbol("."):
            hint = "names of sources, views, handlers and consumers have no catalog or schema"
            message = f"`{name}.` is qualified; {what} is one plain name"
            raise self.refused("INVALID_NAME", message, hint, at=word)
        return name

    def listed(self, what: str) -> tuple[str, ...]:
        """Take `(name, ...)`, each name once."""
        return self._each_once(what, self.identifier)

    def strings(self, what: str) -> tuple[str, ...]:
        """Take `('text', ...)`, each text once."""
        return self._each_once(what, self.string)

    def unexpected(self, expected: str, *, candidates: Iterable[str] = ()) -> UnexpectedError:
        """The error that something else should stand here."""
        hint = ""
        if self.word.kind is WordKind.PLAIN and (near := suggest(self.word.text, candidates)):
            hint = f"did you mean {near}?"
        return self.refused("SQL_SYNTAX", f"expected {expected}, found {self.word}", hint)

    def refused(
        self, code: str, message: str, hint: str = "", *, at: Word | None = None
    ) -> UnexpectedError:
        """An error at a word, the next one unless told."""
        place = self._positions.at((at or self.word).start)
        return UnexpectedError(error(code, message, place, hint))

    def _each_once(self, what: str, read: Callable[[str], str]) -> tuple[str, ...]:
        self.expect_symbol("(")
        entries: list[str] = []
        while not entries or self.take_symbol(","):
            word = self.word
            entry = read(what)
            if canonical(entry) in map(canonical, entries):
                twice = self.refused("DUPLICATE_ENTRY", f"`{entry}` is listed twice", at=word)
                self.problems.append(twice.problem)
            entries.append(entry)
        if not self.take_symbol(")"):
            raise self.unexpected("`,` or `)`")
        return tuple(entries)

    def _dollar_parts(self, word: Word) -> str:
        """The rest of a name like `a$b`, which the tokenizer cuts at the dollar sign."""
        rest, end = "", word.end
        while word.kind is WordKind.PLAIN and self.word.text == "$" and self.word.start == end:
            end = self.advance().end
            rest += "$"
            if self.word.kind is WordKind.PLAIN and self.word.start == end:
                end = self.word.end
                rest += self.advance().text
        return rest
