"""Clauses of a statement in any order, each at most once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from headwater.define.diagnostics import alternatives, suggest
from headwater.define.header import Header, UnexpectedError
from headwater.define.words import WordKind


@dataclass(frozen=True)
class Clause:
    """One clause: the field of the definition it fills, and how its value is read."""

    field: str
    read: Callable[[Header], Any]


Clauses = Mapping[tuple[str, ...], Clause]
"""Clauses by the keywords that open them."""


def read_clauses(header: Header, clauses: Clauses, end: tuple[str, ...] = ()) -> dict[str, Any]:
    """Values by field, up to the `end` keywords; after a bad clause, the next one is read."""
    values: dict[str, Any] = {}

    def stop(header: Header) -> bool:
        return header.at_end or (bool(end) and header.at(*end))

    def can_go_on(header: Header) -> bool:
        return stop(header) or any(header.at(*opening) for opening in clauses)

    while not stop(header):
        try:
            _read_clause(header, clauses, values, end)
        except UnexpectedError as unexpected:
            header.problems.append(unexpected.problem)
            header.skip_until(can_go_on)
    return values


def _read_clause(
    header: Header, clauses: Clauses, values: dict[str, Any], end: tuple[str, ...]
) -> None:
    start = header.word
    for opening, clause in clauses.items():
        if header.take(*opening):
            if clause.field in values:
                message = f"{' '.join(opening)} stands here twice"
                twice = header.refused("DUPLICATE_CLAUSE", message, at=start)
                header.problems.append(twice.problem)
            values[clause.field] = None  # read or not, it was given
            values[clause.field] = clause.read(header)
            return
    raise _unknown_clause(header, clauses, values, end)


def _unknown_clause(
    header: Header, clauses: Clauses, values: dict[str, Any], end: tuple[str, ...]
) -> UnexpectedError:
    left = [" ".join(words) for words, clause in clauses.items() if clause.field not in values]
    expected = [*left, " ".join(end) or "the end of the statement"]
    near = suggest(header.word.text, [option.split()[0] for option in expected])
    hint = f"did you mean {near}?" if near and header.word.kind is WordKind.PLAIN else ""
    message = f"expected {alternatives(expected)}, found {header.word}"
    return header.refused("SQL_SYNTAX", message, hint)
