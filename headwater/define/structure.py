"""The structure phase: do the definitions fit together?

Each rule is one function from all definitions to problems; `RULES` is the phase.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from headwater.define.check_queries import order_remarks, query_remarks, table_names
from headwater.define.consumer import ConsumerDef
from headwater.define.definitions import Definition, Definitions
from headwater.define.diagnostics import Problem, error, suggest, warning
from headwater.define.graph import find_cycles
from headwater.define.handler import HandlerDef
from headwater.define.kind import Kind, canonical
from headwater.define.source import SourceDef, SourceFormat
from headwater.define.trigger import Cron, Every, Manual
from headwater.define.view import ViewDef
from headwater.vocabulary.location import Location
from headwater.vocabulary.names import HIDDEN_PREFIX, RESERVED_PREFIX

Rule = Callable[[Sequence[Definition], Definitions], Iterator[Problem]]


def check_structure(written: Sequence[Definition]) -> tuple[Problem, ...]:
    """All problems of definitions given in the order they were written, namesakes included."""
    known = Definitions.of(written)
    return tuple(problem for rule in RULES for problem in rule(written, known))


def reserved_names(written: Sequence[Definition], _: Definitions) -> Iterator[Problem]:
    for definition in written:
        for prefix in (RESERVED_PREFIX, HIDDEN_PREFIX):
            if definition.name.startswith(prefix):
                message = f"`{definition.display}`: names that begin with {prefix} are reserved"
                yield error("RESERVED_NAME", message, definition.name_location)


def duplicate_names(written: Sequence[Definition], _: Definitions) -> Iterator[Problem]:
    """Sources, views and handlers share one set of names: queries and `refresh` go by them."""
    first: dict[tuple[Kind, str], Definition] = {}
    for definition in written:
        shelf = Kind.CONSUMER if definition.kind is Kind.CONSUMER else Kind.VIEW
        earlier = first.setdefault((shelf, definition.name), definition)
        if earlier is not definition:
            message = (
                f"{definition.kind.noun} `{definition.display}` has the name of a "
                f"{earlier.kind.noun} defined at {earlier.name_location}"
            )
            yield error("DUPLICATE_NAME", message, definition.name_location)


def clause_conflicts(written: Sequence[Definition], _: Definitions) -> Iterator[Problem]:
    for view in written:
        if isinstance(view, ViewDef):
            for message, hint in _conflicts(view):
                yield error("CLAUSE_CONFLICT", message, view.name_location, hint)


def _conflicts(view: ViewDef) -> Iterator[tuple[str, str]]:
    if view.compute_once and not view.key:
        yield "COMPUTE ONCE needs to know which row is which", "add KEY (...)"
    if {c.lower() for c in view.compute_once} & {c.lower() for c in view.key}:
        yield "a column of KEY cannot be computed once", "leave it out of COMPUTE ONCE"
    if view.cluster_by and view.partitioned_by:
        yield "a Delta table is clustered or partitioned, not both", "keep one of the two clauses"
    if view.target_lag and isinstance(view.trigger, (Every, Cron, Manual)):
        hint = "leave out TARGET LAG or REFRESH"
        yield f"TARGET LAG and REFRESH {view.trigger} are two schedules", hint
    if view.warn_after and view.overdue_after and view.warn_after > view.overdue_after:
        yield "WARN AFTER is longer than OVERDUE AFTER", "a warning comes before the alarm"


def missing_keys(written: Sequence[Definition], _: Definitions) -> Iterator[Problem]:
    for source in written:
        if isinstance(source, SourceDef) and source.format is SourceFormat.JDBC and not source.key:
            message = f"source `{source.display}` is reloaded and compared, which needs a key"
            yield error("MISSING_KEY", message, source.name_location, "add KEY (...)")


def cycles(_: Sequence[Definition], known: Definitions) -> Iterator[Problem]:
    for circle in find_cycles(known):
        view = known.views[circle[0]]
        path = " -> ".join(known.views[name].display for name in circle)
        yield error("CYCLE", f"views read each other in a circle: {path}", view.name_location)


def handler_views(written: Sequence[Definition], known: Definitions) -> Iterator[Problem]:
    taken: dict[str, HandlerDef] = {}
    for handler in written:
        if not isinstance(handler, HandlerDef):
            continue
        for view, place in zip(handler.views, handler.places, strict=True):
            if view not in known.views:
                yield _unknown_view(view, place, known)
            owner = taken.setdefault(view, handler)
            if owner is not handler:
                message = f"`{view}` is already in handler `{owner.display}`"
                yield error("VIEW_IN_TWO_HANDLERS", message, place, "leave it in one of them")


def consumer_views(written: Sequence[Definition], known: Definitions) -> Iterator[Problem]:
    for consumer in written:
        if isinstance(consumer, ConsumerDef) and consumer.view not in known.views:
            yield _unknown_view(consumer.view, consumer.view_location, known)


def _unknown_view(view: str, place: Location, known: Definitions) -> Problem:
    if view in known.sources:
        return error("UNKNOWN_VIEW", f"`{view}` is a source, not a view", place)
    near = suggest(view, (definition.display for definition in known.views.values()))
    hint = f"did you mean `{near}`?" if near else ""
    return error("UNKNOWN_VIEW", f"no view is named `{view}`", place, hint)


def unsupported(written: Sequence[Definition], _: Definitions) -> Iterator[Problem]:
    for definition in written:
        what = ""
        if isinstance(definition, ConsumerDef):
            what = "CREATE CONSUMER"
        elif isinstance(definition, SourceDef) and definition.format is not SourceFormat.DELTA:
            what = f"FROM {definition.format.name}"
        if what:
            message = f"{what} is not carried out by this version of Headwater"
            yield error("STATEMENT_UNSUPPORTED", message, definition.location)


def unused_sources(_: Sequence[Definition], known: Definitions) -> Iterator[Problem]:
    read = {canonical(table) for view in known.views.values() for table in view.tables}
    for source in known.sources.values():
        if source.name not in read:
            message = f"no view reads source `{source.display}`"
            yield warning("UNUSED_SOURCE", message, source.name_location)


RULES: tuple[Rule, ...] = (
    reserved_names,
    duplicate_names,
    clause_conflicts,
    missing_keys,
    table_names,
    query_remarks,
    order_remarks,
    cycles,
    handler_views,
    consumer_views,
    unsupported,
    unused_sources,
)
