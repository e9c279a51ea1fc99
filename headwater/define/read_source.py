"""CREATE SOURCE."""

from __future__ import annotations

from typing import Any

from headwater.define.clauses import read_clauses
from headwater.define.header import Header
from headwater.define.kind import canonical
from headwater.define.properties import SOURCE, read_choice
from headwater.define.source import SourceDef, SourceFormat
from headwater.define.words import WordKind
from headwater.vocabulary.names import quoted


def read_source(header: Header) -> SourceDef | None:
    """Take a source's name and clauses; None if they hold an error."""
    place = header.here
    name = header.object_name("a source's name")
    header.expect("FROM")
    format_ = read_choice(header, SourceFormat, "where it comes from")
    values = _origin(header, format_)
    values |= read_clauses(header, SOURCE[format_.name])
    if format_ is SourceFormat.JDBC and "table" not in values:
        raise header.unexpected("TABLE and the name of a table")
    if header.problems:
        return None
    return SourceDef(
        name=canonical(name),
        display=name,
        format=format_,
        text=header.statement,
        location=header.start,
        name_location=place,
        **values,
    )


def _origin(header: Header, format_: SourceFormat) -> dict[str, Any]:
    if format_ is SourceFormat.JDBC:
        return {"url": header.string("a JDBC address")}
    if format_ is SourceFormat.FILES:
        return {"path": _path(header)}
    if header.word.kind in {WordKind.PLAIN, WordKind.QUOTED}:
        return {"table": _catalog_name(header)}
    return {"path": _path(header)}


def _path(header: Header) -> str:
    word = header.word
    path = header.string("a path")
    if not path.strip():
        raise header.refused("SQL_SYNTAX", "the path is empty", at=word)
    return path


def _catalog_name(header: Header) -> str:
    what = "a path in quotes or a table's name in the catalog"
    parts = [header.identifier(what)]
    while header.take_symbol("."):
        parts.append(header.identifier("the next part of the table's name"))
    return ".".join(part if part.isidentifier() else quoted(part) for part in parts)
