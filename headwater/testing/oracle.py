"""incremental == recompute, checked on small tables without a commit.

Every technique that claims to be sound for a query is planned as a refresh would plan it; its write
is played on the old content in SQL, and the outcome compared with Spark's own result, as bags.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headwater.define.query import examine
from headwater.execute.compiling import compile_query
from headwater.execute.isolated import isolated
from headwater.plan.compiled import restore
from headwater.plan.consolidate import difference
from headwater.plan.patch import patched
from headwater.plan.planner import Choice, Situation, plan_refresh
from headwater.plan.planning import changes_name, new_name, old_name
from headwater.plan.render import listed, render
from headwater.plan.soundness import verdicts
from headwater.plan.steps import (
    TARGET,
    Append,
    Derive,
    Patch,
    RefreshPlan,
    Rewrite,
    Write,
)
from headwater.plan.strategies.inputs import SourceWindow
from headwater.plan.view import CompiledView
from headwater.vocabulary.algebra import Scan
from headwater.vocabulary.names import FILE, quoted
from headwater.vocabulary.technique import Technique

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Rows = list[tuple[Any, ...]]

_TINY = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
"""A few rows are computed faster than code for them is compiled."""


@dataclass(frozen=True)
class TableStates:
    """One source before and after a change."""

    ddl: str
    before: Rows
    after: Rows
    inserts_only: bool = False


@dataclass(frozen=True)
class Mismatch:
    """A technique that claimed to be sound and gave other rows than the query."""

    technique: Technique
    rows: tuple[dict[str, Any], ...]
    sql: tuple[str, ...]


class Oracle:
    """Checks queries one after the other in one session."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._session = isolated(spark)
        for name, value in _TINY.items():
            self._session.conf.set(name, value)

    def check(
        self, sql: str, tables: Mapping[str, TableStates]
    ) -> tuple[dict[Technique, str], list[Mismatch]]:
        """The techniques that were tried, or their refusal, and those that failed."""
        view = self._compiled(sql, tables)
        self._register(view, tables)
        windows = {
            name: _window(name, states) for name, states in tables.items() if name in view.catalog
        }
        tried: dict[Technique, str] = {}
        failed: list[Mismatch] = []
        if not any(window.changed for window in windows.values()):
            return tried, failed
        for verdict in verdicts(view, windows, ()):
            tried[verdict.technique] = "sound" if verdict.sound else verdict.reason.code
            if verdict.sound:
                situation = Situation(windows, forced=verdict.technique)
                choice = Choice(verdict.technique, (), (), ())
                mismatch = self._try(view, plan_refresh(view, situation, choice))
                failed += [mismatch] if mismatch else []
        return tried, failed

    def _compiled(self, sql: str, tables: Mapping[str, TableStates]) -> CompiledView:
        sources = {}
        for name, states in tables.items():
            schema = self._session.createDataFrame([], states.ddl).schema
            columns = tuple((f.name, f.dataType.simpleString()) for f in schema.fields)
            if _mentions(sql, name):
                sources[name] = columns
        return restore("view", sql, compile_query(self._spark, sql, sources))

    def _register(self, view: CompiledView, tables: Mapping[str, TableStates]) -> None:
        session = self._session
        for name in view.catalog:
            states = tables[name]
            for relation, rows in ((old_name(name), states.before), (new_name(name), states.after)):
                self._local(rows, states.ddl).createOrReplaceTempView(relation)
            session.table(new_name(name)).createOrReplaceTempView(name)
            after, before = (f"(SELECT * FROM {quoted(n(name))})" for n in (new_name, old_name))
            netted = session.sql(difference(view.catalog[name], after, before)).toArrow()
            session.createDataFrame(netted).createOrReplaceTempView(changes_name(name))
        if not view.is_opaque:
            self._content(view, "__hw_before", lambda scan: old_name(scan.source))
            self._place()

    def _local(self, rows: Rows, ddl: str) -> DataFrame:
        """Rows as a local relation, which needs no job to read."""
        frame = self._session.createDataFrame(rows, ddl)
        return self._session.createDataFrame(frame.toArrow(), schema=frame.schema)

    def _content(self, view: CompiledView, name: str, leaves: Callable[[Scan], str]) -> None:
        pairs = zip(view.layout.root.columns, view.layout.columns, strict=True)
        shown = ", ".join(f"{quoted(id_)} AS {quoted(column)}" for id_, column in pairs)
        sql = f"SELECT {shown} FROM ({render(view.layout.root, leaves)})"
        self._session.sql(sql).createOrReplaceTempView(name)

    def _place(self) -> None:
        """The view's old rows as if they were stored, two to a file."""
        frame = self._session.table("__hw_before")
        rows = frame.toArrow()
        files = pa.array([f"file-{n // 2}" for n in range(rows.num_rows)], pa.string())
        placed, schema = rows.append_column(FILE, files), frame.schema.add(FILE, "string")
        self._session.createDataFrame(placed, schema=schema).createOrReplaceTempView(TARGET)

    def _try(self, view: CompiledView, plan: RefreshPlan) -> Mismatch | None:
        if view.is_opaque:
            return None
        session = self._session
        for step in _derived(plan):
            frame = session.sql(step.sql)
            if step.once:
                frame = session.createDataFrame(frame.toArrow(), schema=frame.schema)
            frame.createOrReplaceTempView(step.name)
        session.sql(played(plan.write)).createOrReplaceTempView("__hw_played")
        names = listed(view.layout.visible)
        expected = session.sql(view.text).toDF(*view.layout.visible)
        expected.createOrReplaceTempView("__hw_wanted")
        wrong = difference(
            view.layout.visible,
            f"(SELECT {names} FROM __hw_wanted)",
            f"(SELECT {names} FROM __hw_played)",
        )
        rows = session.sql(wrong).limit(20).collect()
        if not rows:
            return self._hidden(view, plan)
        sqls = tuple(step.sql for step in _derived(plan))
        return Mismatch(plan.technique, tuple(row.asDict() for row in rows), sqls)

    def _hidden(self, view: CompiledView, plan: RefreshPlan) -> Mismatch | None:
        """Hidden state must be right too, or the next refresh is wrong."""
        if not view.layout.hidden:
            return None
        self._content(view, "__hw_state", lambda scan: new_name(scan.source))
        names = listed(view.layout.columns)
        wrong = difference(
            view.layout.columns,
            f"(SELECT {names} FROM __hw_state)",
            f"(SELECT {names} FROM __hw_played)",
        )
        rows = self._session.sql(wrong).limit(20).collect()
        if not rows:
            return None
        return Mismatch(plan.technique, tuple(row.asDict() for row in rows), ("hidden state",))


def played(write: Write) -> str:
    """What a write makes of the view's old content, as a query."""
    names = listed(write.columns)
    if isinstance(write, Append):
        old = f"SELECT {names} FROM {quoted(TARGET)}"
        return f"{old} UNION ALL SELECT {names} FROM {quoted(write.relation)}"
    patch = write.patch if isinstance(write, Rewrite) else write
    if isinstance(patch, Patch):
        return patched(patch.columns, patch.identity, TARGET, patch.relation)
    return f"SELECT {names} FROM {quoted(write.relation)}"


def _derived(plan: RefreshPlan) -> list[Derive]:
    steps = [step for step in plan.steps if isinstance(step, Derive)]
    return [*steps, *plan.write.patching] if isinstance(plan.write, Rewrite) else steps


def _window(name: str, states: TableStates) -> SourceWindow:
    moved = sorted(map(repr, states.before)) != sorted(map(repr, states.after))
    window = SourceWindow(name, 0, 1, changed=moved, inserts_only=states.inserts_only and moved)
    return replace(window, has_feed=True)


def _mentions(sql: str, table: str) -> bool:
    return table in {name.lower() for name in examine(sql).tables}
