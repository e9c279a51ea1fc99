"""Check a project's definitions in phases; a phase runs only if the one before found no error.

parse -> structure -> names against the sources -> analysis by Spark. Nothing is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.capture.log import open_log
from headwater.define.definitions import Definitions
from headwater.define.diagnostics import Problem, Report, error, suggest, warning
from headwater.define.graph import dependencies, levels
from headwater.define.lowering.expressions import unknown_calls
from headwater.define.lowering.lower import Lowered, lower
from headwater.define.once import OnceError, lower_once
from headwater.define.positions import shifted
from headwater.define.source import SourceDef
from headwater.define.view import ViewDef
from headwater.execute.analyse import analyse, register_empty
from headwater.execute.isolated import isolated
from headwater.plan.layout import layout_of
from headwater.plan.soundness import view_recomputed
from headwater.plan.view import Columns
from headwater.project.join_keys import Arrangement, arrangement_of, join_keys, unclustered
from headwater.vocabulary.algebra import scans
from headwater.vocabulary.dialect import parsed
from headwater.vocabulary.errors import HeadwaterError
from headwater.vocabulary.reason import Reason

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SPARK_PLACE = re.compile(r"line (\d+),? pos (\d+)")
Locate = Callable[[SourceDef], str]


@dataclass(frozen=True)
class Sources:
    """The sources' columns, and what is wrong with those that could not be read."""

    columns: dict[str, Columns]
    problems: tuple[Problem, ...]
    arrangements: dict[str, Arrangement] = field(default_factory=dict)


def read_sources(definitions: Definitions, locate: Locate) -> Sources:
    """Ask every source's log for its schema; no Spark."""
    columns: dict[str, Columns] = {}
    arrangements: dict[str, Arrangement] = {}
    problems: list[Problem] = []
    for source in definitions.sources.values():
        try:
            log = open_log(locate(source))
            metadata = log.metadata()
            arrangements[source.name] = arrangement_of(log)
        except HeadwaterError as unreadable:
            problems.append(_unreadable(source, unreadable))
            continue
        columns[source.name] = tuple((f.name, f.type_text) for f in metadata.schema)
        if metadata.configuration.get("delta.enableChangeDataFeed", "false").lower() != "true":
            problems.append(_no_feed(source))
    return Sources(columns, tuple(problems), arrangements)


def _unreadable(source: SourceDef, why: HeadwaterError) -> Problem:
    """The table's own place belongs into the message: the problem's is that of the statement."""
    place = f" ({why.where})" if why.where and str(why.where) not in why.what else ""
    return error(why.code, f"{why.what}{place}", source.location, why.hint)


def _no_feed(source: SourceDef) -> Problem:
    place = source.table or f"delta.`{source.path}`"
    return warning(
        "FEED_OFF",
        f"source `{source.display}` has no change feed: its snapshots are compared instead",
        source.location,
        f"ALTER TABLE {place} SET TBLPROPERTIES (delta.enableChangeDataFeed = true)",
    )


def check_names(
    definitions: Definitions,
    sources: Mapping[str, Columns],
    arrangements: Mapping[str, Arrangement] | None = None,
) -> Report:
    """Every column and alias of every query, by our own reading of it."""
    catalog = {name: tuple(c for c, _ in columns) for name, columns in sources.items()}
    typed = {name: dict(columns) for name, columns in sources.items()}
    problems: list[Problem] = []
    for view in _in_order(definitions):
        visible = _visible(definitions, view, catalog)
        lowered = lower(view.query, visible, typed=typed)
        if view.compute_once and not lowered.problems:
            lowered, refused = _lowered_once(view, visible, typed, lowered)
            problems += refused
        problems += _name_problems(view, lowered)
        problems += [
            warning("REBUILD_ONLY", f"`{view.display}`: {reason}", view.location)
            for reason in _rebuilding(lowered)
            if reason.code not in {p.code for p in lowered.problems}
        ]
        problems += _join_problems(view, lowered, arrangements or {})
        catalog[view.name] = lowered.query.names
    return Report.of(problems)


def _lowered_once(
    view: ViewDef,
    visible: Mapping[str, tuple[str, ...]],
    typed: Mapping[str, Mapping[str, str]],
    plain: Lowered,
) -> tuple[Lowered, list[Problem]]:
    try:
        return lower_once(view.query, visible, view.compute_once, _own(view), typed), []
    except OnceError as refusal:
        return plain, [error(refusal.code, refusal.message, view.query_location)]


def _own(view: ViewDef) -> dict[str, str]:
    """Functions that only a session knows: whether they may be followed is told by a build."""
    if not view.compute_once:
        return {}
    return dict.fromkeys(unknown_calls(parsed(view.query)), "scalar")


def _rebuilding(lowered: Lowered) -> tuple[Reason, ...]:
    """Parts that are kept as text, and an operator at the top that is a matter of all rows."""
    root = lowered.query.root
    layout = layout_of(lowered.query, {})
    whole = view_recomputed(layout, frozenset(scan.source for scan in scans(root)))
    if whole is None or whole.code == "GLOBAL_AGGREGATE" or whole in lowered.reasons:
        return lowered.reasons
    return (*lowered.reasons, whole)


def _join_problems(
    view: ViewDef, lowered: Lowered, arrangements: Mapping[str, Arrangement]
) -> list[Problem]:
    """Joins that a small change makes expensive; they are right all the same."""
    keys = join_keys(lowered.query.root)
    joined = {key.source for key in keys}
    found = [
        warning(
            "NOT_CLUSTERED",
            f"`{view.display}` joins `{source}` by {', '.join(columns)}, but its files are not "
            "clustered by that: a change on the other side reads all of them",
            view.query_location,
            f"ALTER TABLE ... CLUSTER BY ({columns[0]}), then OPTIMIZE ... FULL",
        )
        for source, columns in unclustered(keys, arrangements)
    ]
    found += [
        warning(
            "NO_STATISTICS",
            f"files of `{source}`, which `{view.display}` joins, carry no statistics",
            view.query_location,
            "ANALYZE TABLE ... COMPUTE DELTA STATISTICS",
        )
        for source, arrangement in arrangements.items()
        if source in joined and not arrangement.has_statistics
    ]
    return found


def _name_problems(view: ViewDef, lowered: Lowered) -> list[Problem]:
    found = []
    for problem in lowered.problems:
        near = suggest(problem.name, problem.candidates)
        hint = f"did you mean `{near}`?" if near else f"in scope: {', '.join(problem.candidates)}"
        place = shifted(view.query_location, problem.line, problem.column)
        found.append(error(problem.code, problem.message, place, hint))
    return found


def check_with_spark(
    spark: SparkSession, definitions: Definitions, sources: Mapping[str, Columns]
) -> Report:
    """What Spark itself says about every query, on empty tables of the sources' schemas."""
    session = isolated(spark)
    register_empty(session, sources)
    known = dict(sources)
    problems: list[Problem] = []
    for view in _in_order(definitions):
        names = {name: tuple(c for c, _ in columns) for name, columns in known.items()}
        try:
            visible = _visible(definitions, view, names)
            typed = {name: dict(columns) for name, columns in known.items()}
            query = lower_once(view.query, visible, view.compute_once, _own(view), typed).query
            analysis = analyse(session, view.query, query)
        except Exception as refused:  # noqa: BLE001  (Spark's refusal is the finding)
            problems.append(_from_spark(view, refused))
            continue
        problems += _shape_problems(view, analysis.columns)
        known[view.name] = analysis.columns
        register_empty(session, {view.name: analysis.columns})
    return Report.of(problems)


def _shape_problems(view: ViewDef, columns: Columns) -> list[Problem]:
    """What only the finished columns tell: duplicates, and clauses naming columns that are not."""
    names = [name.lower() for name, _ in columns]
    found = [
        error(
            "DUPLICATE_COLUMN",
            f"`{view.display}` shows `{name}` twice",
            view.query_location,
            "give one of them another name with AS",
        )
        for name in dict.fromkeys(n for n in names if names.count(n) > 1)
    ]
    for clause in (view.key, view.cluster_by, view.partitioned_by, view.compute_once):
        for column in clause:
            if column.lower() not in names:
                near = suggest(column, names)
                hint = f"did you mean `{near}`?" if near else ""
                message = f"`{view.display}` has no column `{column}`"
                found.append(error("UNKNOWN_COLUMN", message, view.location, hint))
    return found


def _from_spark(view: ViewDef, refused: Exception) -> Problem:
    text = str(refused).split("\n", maxsplit=1)[0]
    found = _SPARK_PLACE.search(str(refused))
    place = view.query_location
    if found:
        place = shifted(place, int(found.group(1)), int(found.group(2)) + 1)
    return error("SPARK_REFUSED", text, place)


def _in_order(definitions: Definitions) -> list[ViewDef]:
    ordered = levels(definitions, definitions.views)
    return [definitions.views[name] for level in ordered for name in level]


def _visible(
    definitions: Definitions, view: ViewDef, catalog: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    return {name: catalog[name] for name in dependencies(definitions, view.name) if name in catalog}
