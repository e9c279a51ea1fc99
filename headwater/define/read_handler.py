"""CREATE HANDLER."""

from __future__ import annotations

from headwater.define.handler import HandlerDef
from headwater.define.header import Header
from headwater.define.kind import canonical
from headwater.vocabulary.location import Location


def read_handler(header: Header) -> HandlerDef | None:
    """Take a handler's name and views; None if they hold an error."""
    place = header.here
    name = header.object_name("a handler's name")
    header.expect("PROCESS")
    views: dict[str, Location] = {}
    while not views or header.take_symbol(","):
        word, at = header.word, header.here
        view = header.object_name("a view's name")
        if canonical(view) in views:
            twice = header.refused("DUPLICATE_ENTRY", f"`{view}` is listed twice", at=word)
            header.problems.append(twice.problem)
        views.setdefault(canonical(view), at)
    if not header.at_end:
        raise header.unexpected("`,` or the end of the statement")
    if header.problems:
        return None
    return HandlerDef(
        name=canonical(name),
        display=name,
        views=tuple(views),
        places=tuple(views.values()),
        text=header.statement,
        location=header.start,
        name_location=place,
    )
