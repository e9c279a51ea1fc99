"""Statements that act on what is defined: DROP, REFRESH, PAUSE, RESUME, CANCEL, ALTER."""

from __future__ import annotations

from collections.abc import Mapping

from headwater.define.clauses import Clauses, read_clauses
from headwater.define.header import Header
from headwater.define.kind import Kind, canonical
from headwater.define.properties import ALTERABLE, CADENCE, CONSUMER_ALTERABLE, VIEW
from headwater.define.statements import Alter, Cancel, Drop, Pause, Refresh, Resume
from headwater.define.words import WordKind

_ALTERABLE: Mapping[Kind, Clauses] = {
    Kind.SOURCE: CADENCE,
    Kind.VIEW: ALTERABLE,
    Kind.CONSUMER: CONSUMER_ALTERABLE,
}


def read_drop(header: Header, kind: Kind) -> Drop:
    """Take `[IF EXISTS] name`."""
    if_exists = header.take("IF", "EXISTS")
    name = header.object_name(f"a {kind.noun}'s name")
    header.expect_end()
    return Drop(kind, canonical(name), if_exists, header.start)


def read_refresh(header: Header) -> Refresh:
    """Take `view [FULL] [AS OF [VERSION] n]`."""
    name = header.object_name("a view's name")
    full = header.take("FULL")
    as_of = None
    if header.take("AS", "OF"):
        header.take("VERSION")
        as_of = header.integer("a version number")
    if not header.at_end:
        raise header.unexpected("FULL, AS OF or the end of the statement")
    return Refresh(canonical(name), full, as_of, header.start)


def read_pause(header: Header, kind: Kind) -> Pause:
    name = header.object_name(f"a {kind.noun}'s name")
    header.expect_end()
    return Pause(kind, canonical(name), header.start)


def read_resume(header: Header, kind: Kind) -> Resume:
    name = header.object_name(f"a {kind.noun}'s name")
    header.expect_end()
    return Resume(kind, canonical(name), header.start)


def read_cancel(header: Header) -> Cancel:
    """Take `[REFRESH] 'attempt'`."""
    header.take("REFRESH")
    if header.word.kind not in {WordKind.STRING, WordKind.PLAIN, WordKind.NUMBER}:
        raise header.unexpected("the id of an attempt")
    attempt = header.advance().text
    header.expect_end()
    return Cancel(attempt, header.start)


def read_alter(header: Header, kind: Kind) -> Alter:
    """Take `name SET clauses`, clauses that need no new build."""
    name = header.object_name(f"a {kind.noun}'s name")
    header.expect("SET")
    if header.at_end:
        raise header.unexpected("a clause")
    if kind is Kind.VIEW and any(header.at(*words) for words in VIEW.keys() - ALTERABLE.keys()):
        hint = "use CREATE OR REPLACE MATERIALIZED VIEW"
        message = f"{header.word} cannot be altered where the view stands"
        raise header.refused("CLAUSE_CONFLICT", message, hint)
    changes = read_clauses(header, _ALTERABLE[kind])
    return Alter(kind, canonical(name), tuple(changes.items()), header.start)
