"""Rules of the structure phase that look inside the views' queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from headwater.define.as_they_come import Doubt
from headwater.define.definitions import Definition, Definitions
from headwater.define.diagnostics import Problem, error, suggest, warning
from headwater.define.kind import canonical
from headwater.define.ordering import order_dependent
from headwater.define.positions import within
from headwater.define.query import examine
from headwater.define.table_names import TableRef
from headwater.define.trigger import Greedy, OnChange
from headwater.define.view import ViewDef
from headwater.vocabulary.location import Location

_WARNINGS = frozenset({"UNORDERED_LIMIT"})
_FILE_FORMATS = frozenset({"delta", "parquet", "csv", "json", "orc", "text", "avro"})


def nondeterminism(query: str, base: Location) -> tuple[tuple[str, Location], ...]:
    """Calls in a query whose results differ from run to run, with their places."""
    return _unstable(query, base, of_clock=False)


def clock_reads(query: str, base: Location) -> tuple[tuple[str, Location], ...]:
    """Calls in a query whose results differ with the clock, with their places."""
    return _unstable(query, base, of_clock=True)


def table_names(written: Sequence[Definition], known: Definitions) -> Iterator[Problem]:
    """Every table a query reads is a source or a view, called by its plain name."""
    for view in _views(written):
        if all(known.table(table) for table in view.tables):
            continue
        reported: set[str] = set()
        for ref in examine(view.query).refs:
            if canonical(ref.name) in reported:
                continue
            reported.add(canonical(ref.name))
            place = within(view.query_location, view.query, ref.offset)
            if ref.is_qualified:
                yield _qualified(ref, place)
            elif not known.table(ref.name):
                yield _unknown(ref, place, known)


def query_remarks(written: Sequence[Definition], _: Definitions) -> Iterator[Problem]:
    """What a query's own text gives away."""
    for view in _views(written):
        for remark in examine(view.query).remarks:
            place = within(view.query_location, view.query, remark.offset)
            tell = warning if remark.code in _WARNINGS else error
            yield tell(remark.code, remark.message, place, remark.hint)
        if not view.compute_once:
            yield from _free_calls(view)
        if isinstance(view.trigger, (OnChange, Greedy)):
            yield from _passing_time(view)


def _free_calls(view: ViewDef) -> Iterator[Problem]:
    """Calls whose results nobody could check, or compute again."""
    for name, place in nondeterminism(view.query, view.query_location):
        message = f"the result of {name} is not decided by the sources' rows"
        hint = "declare COMPUTE ONCE (column) and a KEY; as it is, every change rebuilds the view"
        yield warning("NONDETERMINISTIC", message, place, hint)


def _passing_time(view: ViewDef) -> Iterator[Problem]:
    """A view of the clock that only its sources make refresh."""
    for name, place in clock_reads(view.query, view.query_location):
        message = f"{name} asks the clock, but REFRESH {view.trigger} does not follow the time"
        hint = "add REFRESH EVERY or REFRESH CRON, or leave it if sources change often enough"
        yield warning("CLOCK_DEPENDENT", message, place, hint)


def order_remarks(written: Sequence[Definition], known: Definitions) -> Iterator[Problem]:
    """Expressions whose value depends on an order that the query does not fix."""
    keys = {name: source.key for name, source in known.sources.items()}
    for view in _views(written):
        for found in order_dependent(view.query, examine(view.query).nodes, keys):
            place = within(view.query_location, view.query, found.offset)
            if found.is_window:
                message = f"{found.name} chooses between rows that its ORDER BY finds equal"
                yield warning("WINDOW_TIES", message, place, "add columns that identify a row")
            elif found.doubt is Doubt.TIES:
                message = f"{found.name} {found.doubt.value}"
                hint = "let the order tell the value too: max_by(a, (b, a)), mode(a, true)"
                yield warning("ORDER_DEPENDENT", message, place, hint)
            else:
                message = f"{found.name} takes rows as they come, in any order"
                hint = "use max_by(a, (b, a)), WITHIN GROUP (ORDER BY ...), or sort the list"
                yield warning("ORDER_DEPENDENT", message, place, hint)


def _views(written: Sequence[Definition]) -> Iterator[ViewDef]:
    return (definition for definition in written if isinstance(definition, ViewDef))


def _unstable(query: str, base: Location, *, of_clock: bool) -> tuple[tuple[str, Location], ...]:
    return tuple(
        (call.name, within(base, query, call.offset))
        for call in examine(query).unstable
        if call.of_clock is of_clock
    )


def _qualified(ref: TableRef, place: Location) -> Problem:
    name, origin = ref.parts[-1], ref.name
    if ref.parts[0].lower() in _FILE_FORMATS:
        name = PurePosixPath(ref.parts[-1]).name or "x"
        origin = f"'{ref.parts[-1]}'"
    message = f"`{ref.name}` is read past Headwater, so its changes would not be seen"
    hint = f"CREATE SOURCE {name} FROM DELTA {origin}, and read {name}"
    return error("QUALIFIED_TABLE", message, place, hint)


def _unknown(ref: TableRef, place: Location, known: Definitions) -> Problem:
    names = [table.display for shelf in (known.sources, known.views) for table in shelf.values()]
    near = suggest(ref.name, names)
    hint = f"did you mean `{near}`?" if near else f"CREATE SOURCE {ref.name} FROM DELTA ..."
    return error("UNKNOWN_TABLE", f"no source or view is named `{ref.name}`", place, hint)
