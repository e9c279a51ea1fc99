"""CREATE MATERIALIZED VIEW."""

from __future__ import annotations

from headwater.define.clauses import read_clauses
from headwater.define.diagnostics import error
from headwater.define.header import Header
from headwater.define.kind import canonical
from headwater.define.positions import within
from headwater.define.properties import VIEW
from headwater.define.query import Findings, examine
from headwater.define.query_tree import QuerySyntaxError
from headwater.define.view import ViewDef
from headwater.vocabulary.location import Location


def read_view(header: Header) -> ViewDef | None:
    """Take a view's name, clauses and query; None if they hold an error."""
    place = header.here
    name = header.object_name("a view's name")
    values = read_clauses(header, VIEW, end=("AS",))
    if not header.take("AS"):
        if header.problems:
            return None
        raise header.unexpected("AS and a query")
    query, query_place = header.rest, header.here
    findings = _findings(header, query, query_place)
    if findings is None or header.problems:
        return None
    return ViewDef(
        name=canonical(name),
        display=name,
        query=query,
        query_location=query_place,
        normal_query=findings.normal,
        tables=findings.tables,
        text=header.statement,
        location=header.start,
        name_location=place,
        **values,
    )


def _findings(header: Header, query: str, place: Location) -> Findings | None:
    try:
        return examine(query)
    except QuerySyntaxError as wrong:
        at = within(place, query, wrong.offset)
        header.problems.append(error(wrong.code, wrong.message, at))
        return None
