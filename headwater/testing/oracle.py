"""incremental == recompute, checked on small tables without a commit.

Every technique that claims to be sound for a query is planned as a refresh would plan it; its write
is played on the old content in SQL, and the outcome compared with Spark's own result, as bags.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from headwater.define.query import examine
from headwater.execute.bounds import Bounds
from headwater.execute.close_rows import beyond_rounding
from headwater.execute.compiling import compile_in
from headwater.execute.inlined import Inlined
from headwater.execute.isolated import isolated
from headwater.execute.relations import Kept, keep
from headwater.execute.sieves import Sieves
from headwater.plan.compiled import restore, ungroupable
from headwater.plan.consolidate import difference
from headwater.plan.patch import patched
from headwater.plan.planner import Choice, plan_refresh
from headwater.plan.planning import changes_name, new_name, old_name
from headwater.plan.render import listed, render
from headwater.plan.situation import Situation
from headwater.plan.soundness import Verdict, recomputed_parts, verdicts
from headwater.plan.steps import (
    TARGET,
    Append,
    Derive,
    Patch,
    RefreshPlan,
    Renew,
    Rewrite,
    Write,
)
from headwater.plan.strategies.inputs import SourceWindow
from headwater.plan.usage import mentions, written
from headwater.plan.view import CompiledView
from headwater.vocabulary.algebra import Scan
from headwater.vocabulary.clocks import bound, values_at
from headwater.vocabulary.names import FILE, PLACE, WEIGHT, quoted
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.technique import Technique

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Rows = list[tuple[Any, ...]]

_TINY = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
"""A few rows are computed faster than code for them is compiled."""

_ANY_SIZE = 10**9
"""Rows of a table so large that whatever helps with large ones is done."""

_EXCLUDED = "spark.sql.optimizer.excludedRules"
UNSORTING = "org.apache.spark.sql.catalyst.optimizer.PushProjectionThroughLimitAndOffset"
"""It moves a sub-query in SELECT below the LIMIT, where its join undoes the order."""


@dataclass(frozen=True)
class TableStates:
    """One source before and after a change."""

    ddl: str
    before: Rows
    after: Rows
    inserts_only: bool = False


@dataclass(frozen=True)
class Times:
    """The clock before a change and now; `wanted` is the query as it is to be answered now."""

    before: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    wanted: str = ""


@dataclass(frozen=True)
class Trial:
    """One technique, tried: `word` is `sound`, or the code of the reason why it is not open."""

    technique: Technique
    word: str
    runs: int  # plans that were run, each against Spark's own rows
    parts: tuple[Reason, ...]  # parts of the query that were recomputed whole
    mismatches: tuple[Mismatch, ...]


@dataclass(frozen=True)
class Mismatch:
    """A technique that claimed to be sound and gave other rows than the query."""

    technique: Technique
    rows: tuple[dict[str, Any], ...]
    sql: tuple[str, ...]


_WANTED, _PLAYED = "__hw_wanted_copies", "__hw_played_copies"


class Oracle:
    """Checks queries one after the other in one session."""

    def __init__(self, spark: SparkSession) -> None:
        self._session = isolated(spark)
        self._compiling = isolated(spark)
        self._schemas: dict[str, StructType] = {}
        self._last: tuple[str, dict[str, str], CompiledView] | None = None
        for name, value in _TINY.items():
            self._session.conf.set(name, value)

    def check(
        self,
        sql: str,
        tables: Mapping[str, TableStates],
        times: Times | None = None,
        *,
        small: bool = True,
    ) -> tuple[dict[Technique, str], list[Mismatch]]:
        """The techniques that were tried, or their refusal, and those that failed.

        Relations are kept as small ones are, or as large ones.
        """
        found = self.trials(sql, tables, times, small=small)
        failed = [mismatch for trial in found for mismatch in trial.mismatches]
        return {trial.technique: trial.word for trial in found}, failed

    def trials(
        self,
        sql: str,
        tables: Mapping[str, TableStates],
        times: Times | None = None,
        *,
        small: bool = True,
        rebuild: bool = False,
    ) -> list[Trial]:
        """What came of each technique; none if nothing that the query reads has changed.

        A rebuild in the query's own words cannot give other rows than they do, and is run only if
        it is asked for.
        """
        times = times or Times()
        view = self._compiled(sql, tables)
        before, now = (values_at(view.clocks, at, "UTC") for at in (times.before, times.now))
        windows = {
            name: _window(name, states, is_read=view.reads(name))
            for name, states in tables.items()
            if name in view.catalog
        }
        situation = Situation(windows, clock=now, clock_before=before)
        if not situation.changed:
            return []
        wanted = view.shown(now) if view.ties_broken else times.wanted or view.text(now)
        self._register(view, tables, wanted, before, now)
        if view.is_opaque and rebuild:
            self._register_text(view, view.text(before), wanted)
        found = []
        for verdict in verdicts(view, windows, (), situation.moved_clocks):
            own = verdict.technique is Technique.REBUILD and not view.layout.hidden
            told = own and (view.is_opaque or not view.clocks)
            is_run = verdict.sound and (rebuild or not told)
            plans = _plans(view, situation, verdict.technique) if is_run else []
            tries = [self._try(view, plan, small=small) for plan in plans]
            found.append(_trial(view, situation, verdict, tries))
        return found

    def rounds(self, sql: str, tables: Mapping[str, TableStates]) -> bool:
        """Whether some value of the query depends on the order in which numbers are added."""
        return bool(self._compiled(sql, tables).rounded)

    def is_disputed(self, sql: str, tables: Mapping[str, TableStates]) -> bool:
        """Whether Spark contradicts itself about a query: a LIMIT may lose its order."""
        if self.rounds(sql, tables):
            return False
        answers = []
        for rules in ("", UNSORTING):
            self._session.conf.set(_EXCLUDED, rules)
            self._register(self._compiled(sql, tables), tables, sql, {}, {})
            rows = self._session.table("__hw_wanted").collect()
            answers.append(Counter(map(repr, rows)))
        self._session.conf.unset(_EXCLUDED)
        return answers[0] != answers[1]

    def forget(self) -> None:
        """What was compiled: a law may be another one from now on."""
        self._last = None

    def _compiled(self, sql: str, tables: Mapping[str, TableStates]) -> CompiledView:
        """Once for all changes under which a query is tried, one after the other."""
        ddl = {name: states.ddl for name, states in tables.items()}
        if self._last is None or self._last[:2] != (sql, ddl):
            self._last = (sql, ddl, self._compiled_anew(sql, tables))
        return self._last[2]

    def _compiled_anew(self, sql: str, tables: Mapping[str, TableStates]) -> CompiledView:
        sources = {}
        for name, states in tables.items():
            schema = self._schema(states.ddl)
            columns = tuple((f.name, f.dataType.simpleString()) for f in schema.fields)
            if _mentions(sql, name):
                sources[name] = columns
        return restore("view", sql, compile_in(self._compiling, sql, sources))

    def _register(
        self,
        view: CompiledView,
        tables: Mapping[str, TableStates],
        wanted: str,
        before: Mapping[str, str],
        now: Mapping[str, str],
    ) -> None:
        session = self._session
        for name in view.catalog:
            states = tables[name]
            for relation, rows in ((old_name(name), states.before), (new_name(name), states.after)):
                self._local(rows, states.ddl).createOrReplaceTempView(relation)
            session.table(new_name(name)).createOrReplaceTempView(name)
            ddl = f"{states.ddl}, {WEIGHT} bigint"
            self._local(changes(states), ddl).createOrReplaceTempView(changes_name(name))
        if not view.is_opaque:
            self._content(view, "__hw_before", lambda scan: old_name(scan.source), before)
            self._fix_target()
            self._fix_text(view, wanted, "__hw_wanted")
            if view.layout.hidden:
                self._content(view, "__hw_state", lambda scan: new_name(scan.source), now)

    def _register_text(self, view: CompiledView, before: str, now: str) -> None:
        """What a query that is kept as text gave before the change, and what it gives now."""
        sides = (("__hw_before", before, old_name), ("__hw_wanted", now, new_name))
        for name, text, side in sides:
            for source in view.catalog:
                self._session.table(side(source)).createOrReplaceTempView(source)
            self._fix_text(view, text, name)
        self._fix_target()

    def _fix_target(self) -> None:
        number = "monotonically_increasing_id()"
        place = f"CAST({number} DIV 2 AS STRING) AS {FILE}, {number} % 2 AS {PLACE}"
        self._fix(f"SELECT *, {place} FROM __hw_before", TARGET)

    def _fix_text(self, view: CompiledView, text: str, name: str) -> None:
        self._fix(f"SELECT * FROM (\n{text}\n) AS w({listed(view.layout.visible)})", name)

    def _local(self, rows: Rows, ddl: str) -> DataFrame:
        return local_rows(self._session, self._schema(ddl), rows)

    def _schema(self, ddl: str) -> StructType:
        if ddl not in self._schemas:
            from pyspark.sql.types import StructType  # noqa: PLC0415  (only where Spark runs)

            self._schemas[ddl] = cast("StructType", StructType.fromDDL(ddl))
        return self._schemas[ddl]

    def _content(
        self,
        view: CompiledView,
        name: str,
        leaves: Callable[[Scan], str],
        clock: Mapping[str, str],
    ) -> None:
        pairs = zip(view.layout.root.columns, view.layout.columns, strict=True)
        shown = ", ".join(f"{quoted(id_)} AS {quoted(column)}" for id_, column in pairs)
        content = bound(render(view.layout.root, leaves), clock)
        self._fix(f"SELECT {shown} FROM ({content})", name)

    def _fix(self, sql: str, name: str) -> None:
        """Evaluate a query once; Spark's optimizer breaks down over some inside a comparison."""
        kept = keep(self._session, self._session.sql(sql), may_be_small=True)
        kept.frame.createOrReplaceTempView(name)

    def _try(self, view: CompiledView, plan: RefreshPlan, *, small: bool) -> Mismatch | None:
        session = self._session
        kept: dict[str, Kept] = {}
        bounds, sieves = Bounds(session, kept), Sieves(kept, _ANY_SIZE)
        inlined = Inlined(mentions(plan), written(plan.write))
        for step in _derived(plan):
            sql = sieves.fill(bounds.fill(step.sql))
            if inlined.takes(step, sql):
                continue
            frame = session.sql(inlined.whole(sql))
            if step.once:
                kept[step.name] = keep(session, frame, may_be_small=small)
                frame = kept[step.name].frame
            frame.createOrReplaceTempView(step.name)
        session.sql(played(plan.write)).createOrReplaceTempView("__hw_played")
        if ungroupable(view.columns) is not None:
            return self._unlike(plan)
        wrong = {"visible": _differing(view.layout.visible, "__hw_wanted")}
        if view.layout.hidden:  # it must be right too, or the next refresh is wrong
            wrong["hidden"] = _differing(view.layout.columns, "__hw_state")
        counts = ", ".join(
            f"(SELECT count(*) FROM ({sql})) AS {what}" for what, sql in wrong.items()
        )
        found = session.sql(f"SELECT {counts}").collect()[0].asDict()
        for what, sql in wrong.items():
            rows = self._beyond_rounding(view, sql) if found[what] else ()
            if rows:
                sqls = tuple(step.sql for step in _derived(plan))
                return Mismatch(plan.technique, rows, (what, *sqls))
        return None

    def _unlike(self, plan: RefreshPlan) -> Mismatch | None:
        """Rows that Spark cannot compare, by how they are written."""
        sides = (self._session.table(name).collect() for name in ("__hw_played", "__hw_wanted"))
        played, wanted = (Counter(map(repr, rows)) for rows in sides)
        wrong = (played - wanted) + (wanted - played)
        rows = tuple({row: count} for row, count in wrong.items())
        return Mismatch(plan.technique, rows, ("visible",)) if rows else None

    def _beyond_rounding(self, view: CompiledView, differing: str) -> tuple[dict[str, Any], ...]:
        """The rows that differ in more than the last digits of sums of floats."""
        rounded = tuple(view.stored[name] for name in view.rounded_shown)
        frame = self._session.sql(differing)
        if rounded:
            weight = quoted(WEIGHT)
            sides = f"greatest({weight}, 0L) AS {_WANTED}", f"greatest(-{weight}, 0L) AS {_PLAYED}"
            both = keep(
                self._session, frame.selectExpr("*", *sides).drop(WEIGHT), may_be_small=True
            )
            frame = beyond_rounding(both.frame, rounded, _WANTED, _PLAYED)
        return tuple(row.asDict() for row in frame.limit(20).collect())


def local_rows(session: SparkSession, schema: StructType, rows: Rows) -> DataFrame:
    """Rows as a local relation, which needs no job to read."""
    import pyarrow as pa  # noqa: PLC0415
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415

    columns = list(zip(*rows, strict=True)) or [()] * len(schema.fields)
    arrow = to_arrow_schema(schema, timezone="UTC")
    arrays = [
        pa.array(list(values), type=field.type)
        for values, field in zip(columns, arrow, strict=True)
    ]
    return session.createDataFrame(pa.Table.from_arrays(arrays, schema=arrow), schema=schema)


def _differing(columns: tuple[str, ...], wanted: str) -> str:
    names = listed(columns)
    return difference(
        columns, f"(SELECT {names} FROM {wanted})", f"(SELECT {names} FROM __hw_played)"
    )


def _trial(
    view: CompiledView, now: Situation, verdict: Verdict, tries: list[Mismatch | None]
) -> Trial:
    technique = verdict.technique
    is_partly = bool(tries) and technique is not Technique.REBUILD
    parts = recomputed_parts(view, technique, now.changed) if is_partly else ()
    failed = tuple(mismatch for mismatch in tries if mismatch is not None)
    word = "sound" if verdict.sound else verdict.reason.code
    return Trial(technique, word, len(tries), parts, failed)


def changes(states: TableStates) -> Rows:
    """The change as a refresh reads it: rows that only came are told one by one, others netted."""
    rows = netted(states)
    if not states.inserts_only:
        return rows
    return [(*row, 1) for *row, weight in rows for _ in range(weight)]


def netted(states: TableStates) -> Rows:
    """The change as signed rows, netted."""
    weights: dict[str, int] = {}
    rows: dict[str, tuple[Any, ...]] = {}
    for sign, side in ((1, states.after), (-1, states.before)):
        for row in side:
            key = repr(row)
            rows[key] = row
            weights[key] = weights.get(key, 0) + sign
    return [(*rows[key], weight) for key, weight in weights.items() if weight]


def _plans(view: CompiledView, situation: Situation, technique: Technique) -> list[RefreshPlan]:
    """A technique as it is forced, and as it is for a small view that nobody follows."""
    choice = Choice(technique, (), (), ())
    plan = plan_refresh(view, replace(situation, forced=technique), choice)
    alone = plan_refresh(view, replace(situation, followed=False), choice)
    return [plan, alone] if isinstance(alone.write, Renew) else [plan]


def played(write: Write) -> str:
    """What a write makes of the view's old content, as a query."""
    names = listed(write.columns)
    if isinstance(write, Append):
        old = f"SELECT {names} FROM {quoted(TARGET)}"
        return f"{old} UNION ALL SELECT {names} FROM {quoted(write.relation)}"
    patch = write.patch if isinstance(write, Rewrite) else write
    if isinstance(patch, Patch):
        return patched(patch.columns, TARGET, patch.relation)
    return f"SELECT {names} FROM {quoted(write.relation)}"


def _derived(plan: RefreshPlan) -> list[Derive]:
    steps = [step for step in plan.steps if isinstance(step, Derive)]
    return [*steps, *plan.write.patching] if isinstance(plan.write, Rewrite) else steps


def _window(name: str, states: TableStates, *, is_read: bool) -> SourceWindow:
    moved = is_read and sorted(map(repr, states.before)) != sorted(map(repr, states.after))
    window = SourceWindow(name, 0, 1, changed=moved, inserts_only=states.inserts_only and moved)
    return replace(window, has_feed=True, total_rows=10**9)  # as a large table is treated


def _mentions(sql: str, table: str) -> bool:
    return table in {name.lower() for name in examine(sql).tables}
