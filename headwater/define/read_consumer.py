"""CREATE CONSUMER."""

from __future__ import annotations

from headwater.define.clauses import read_clauses
from headwater.define.consumer import ConsumerDef, ConsumerType
from headwater.define.header import Header
from headwater.define.kind import canonical
from headwater.define.properties import CONSUMER, read_choice


def read_consumer(header: Header) -> ConsumerDef | None:
    """Take a consumer's name, view, type and clauses; None if they hold an error."""
    place = header.here
    name = header.object_name("a consumer's name")
    header.expect("ON")
    view_place = header.here
    view = header.object_name("a view's name")
    header.expect("TYPE")
    type_ = read_choice(header, ConsumerType, "a type")
    values = read_clauses(header, CONSUMER)
    if header.problems:
        return None
    return ConsumerDef(
        name=canonical(name),
        display=name,
        view=canonical(view),
        view_location=view_place,
        type=type_,
        text=header.statement,
        location=header.start,
        name_location=place,
        **values,
    )
