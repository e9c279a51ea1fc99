"""Text to statements; every statement is read, whatever is wrong with the ones before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headwater.define.diagnostics import Problem, alternatives, error, suggest
from headwater.define.header import Header, UnexpectedError
from headwater.define.kind import Kind
from headwater.define.positions import Positions
from headwater.define.read_commands import (
    read_alter,
    read_cancel,
    read_drop,
    read_pause,
    read_refresh,
    read_resume,
)
from headwater.define.read_consumer import read_consumer
from headwater.define.read_handler import read_handler
from headwater.define.read_source import read_source
from headwater.define.read_view import read_view
from headwater.define.statements import (
    CreateConsumer,
    CreateHandler,
    CreateSource,
    CreateView,
    PlainSql,
    Statement,
)
from headwater.define.tokens import tokenize_closed, words
from headwater.define.words import Word, WordKind
from headwater.vocabulary.location import Location

_CREATE: Mapping[Kind, tuple[Callable[[Header], Any], Callable[..., Statement]]] = {
    Kind.SOURCE: (read_source, CreateSource),
    Kind.VIEW: (read_view, CreateView),
    Kind.HANDLER: (read_handler, CreateHandler),
    Kind.CONSUMER: (read_consumer, CreateConsumer),
}

_RUNNING_KINDS = (Kind.VIEW, Kind.HANDLER, Kind.CONSUMER)
_COMMANDS: Mapping[str, tuple[Callable[[Header, Kind], Statement], Sequence[Kind]]] = {
    "DROP": (read_drop, tuple(Kind)),
    "PAUSE": (read_pause, _RUNNING_KINDS),
    "RESUME": (read_resume, _RUNNING_KINDS),
    "ALTER": (read_alter, (Kind.SOURCE, Kind.VIEW, Kind.CONSUMER)),
}
_OURS_ALONE = frozenset({"PAUSE", "RESUME"})  # Spark has statements that begin with the others


TYPED = "<sql>"
"""The file of what was typed into `hw.sql`."""


@dataclass(frozen=True)
class Parsed:
    """The statements that could be read, in order, and the problems of those that could not."""

    statements: tuple[Statement, ...]
    problems: tuple[Problem, ...]


def parse(text: str, file: str = TYPED, *, start: Location | None = None) -> Parsed:
    """Read statements separated by `;`; `start` is where in a file the text was taken from."""
    positions = Positions.of(text, start or Location(file, 1, 1))
    tokens, unclosed = tokenize_closed(text)
    statements: list[Statement] = []
    problems: list[Problem] = []
    groups = list(_split(words(text, tokens)))
    if unclosed:
        groups.pop()
        at = positions.at(unclosed.start)
        problems.append(error("UNCLOSED_TEXT", unclosed.message, at))
    for group in filter(None, groups):
        header = Header(group, text, positions)
        statement = _read(header)
        problems.extend(header.problems)
        if statement is not None:
            statements.append(statement)
    return Parsed(tuple(statements), tuple(problems))


def _split(found: Sequence[Word]) -> Iterator[list[Word]]:
    """Words of each statement; what follows the last `;` is one too, though it may be empty."""
    group: list[Word] = []
    for word in found:
        if word.kind is WordKind.SYMBOL and word.text == ";":
            yield group
            group = []
        else:
            group.append(word)
    yield group


def _read(header: Header) -> Statement | None:
    try:
        statement = _ours(header)
    except UnexpectedError as unexpected:
        header.problems.append(unexpected.problem)
        return None
    return None if header.problems else statement


def _ours(header: Header) -> Statement | None:
    """One of our statements, or Spark's own as it stands."""
    if header.take("CREATE"):
        return _create(header)
    if header.take("REFRESH", "MATERIALIZED", "VIEW"):
        return read_refresh(header)
    if header.take("CANCEL"):
        return read_cancel(header)
    for verb, (read, kinds) in _COMMANDS.items():
        if header.take(verb):
            kind = _kind(header, kinds)
            if kind is None and verb in _OURS_ALONE:
                raise header.unexpected(alternatives([*kinds]))
            return read(header, kind) if kind else _plain(header)
    return _plain(header)


def _create(header: Header) -> Statement | None:
    or_replace = header.take("OR", "REPLACE")
    kind = _kind(header, tuple(Kind))
    if kind is None:
        return _plain(header)
    word = header.word
    if_not_exists = header.take("IF", "NOT", "EXISTS")
    if or_replace and if_not_exists:
        message = "OR REPLACE and IF NOT EXISTS contradict each other"
        raise header.refused("CLAUSE_CONFLICT", message, at=word)
    read, create = _CREATE[kind]
    definition = read(header)
    return create(definition, or_replace, if_not_exists) if definition else None


def _kind(header: Header, kinds: Sequence[Kind]) -> Kind | None:
    """The kind of object named next; None if it is one of Spark's."""
    for kind in kinds:
        if header.take(*kind.words):
            return kind
    if header.at("MATERIALIZED"):
        header.advance()
        raise header.unexpected("VIEW", candidates=["VIEW"])
    openings = [kind.words[0] for kind in kinds]
    near = suggest(header.word.text, openings, cutoff=0.8)
    if near and header.word.kind is WordKind.PLAIN:
        raise header.unexpected(alternatives([*kinds]), candidates=openings)
    return None


def _plain(header: Header) -> PlainSql:
    return PlainSql(header.statement.rstrip(), header.start)
