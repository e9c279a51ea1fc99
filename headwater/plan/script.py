"""A plan as SQL that a person can run, statement by statement."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

from headwater.plan.consolidate import consolidated, difference
from headwater.plan.render import listed
from headwater.plan.steps import (
    Append,
    Derive,
    MergeGroups,
    MergeKeys,
    MergeRows,
    Overwrite,
    ReadChanges,
    ReadSnapshot,
    ReadView,
    RefreshPlan,
    Rewrite,
    Step,
)
from headwater.vocabulary.names import WEIGHT, quoted

Paths = Mapping[str, str]


def script(plan: RefreshPlan, paths: Paths, target: str) -> tuple[str, ...]:
    """One statement per step."""
    return tuple(statement(step, paths, f"delta.{quoted(target)}") for step in plan.steps)


@singledispatch
def statement(step: Step, paths: Paths, target: str) -> str:
    """The SQL of one step."""
    raise TypeError(f"no SQL for {type(step).__name__}")


@statement.register
def _snapshot(step: ReadSnapshot, paths: Paths, target: str) -> str:
    table = f"delta.{quoted(paths[step.source])} VERSION AS OF {step.version}"
    return _view(step.name, f"SELECT {listed(step.columns)} FROM {table}")


@statement.register
def _changes(step: ReadChanges, paths: Paths, target: str) -> str:
    path = paths[step.source]
    names = listed(step.columns)
    if not step.has_feed:
        after = f"(SELECT {names} FROM delta.{quoted(path)} VERSION AS OF {step.up_to})"
        before = f"(SELECT {names} FROM delta.{quoted(path)} VERSION AS OF {step.after})"
        return _view(step.name, difference(step.columns, after, before))
    sign = "CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END"
    escaped = path.replace("'", "\\'")
    feed = f"table_changes_by_path('{escaped}', {step.after + 1}, {step.up_to})"
    signed = f"SELECT {names}, CAST({sign} AS BIGINT) AS {quoted(WEIGHT)} FROM {feed}"
    netted = signed if step.inserts_only else consolidated(step.columns, f"({signed})")
    return _view(step.name, netted)


@statement.register
def _own(step: ReadView, paths: Paths, target: str) -> str:
    return _view(step.name, f"SELECT * FROM {target}")


@statement.register
def _derive(step: Derive, paths: Paths, target: str) -> str:
    return _view(step.name, step.sql)


@statement.register
def _append(step: Append, paths: Paths, target: str) -> str:
    names = listed(step.columns)
    return f"INSERT INTO {target} ({names}) SELECT {names} FROM {quoted(step.relation)}"


@statement.register
def _overwrite(step: Overwrite, paths: Paths, target: str) -> str:
    names = listed(step.columns)
    source = f"SELECT {names} FROM {quoted(step.relation)}"
    return f"CREATE OR REPLACE TABLE {target} USING delta AS {source}"


@statement.register
def _rewrite(step: Rewrite, paths: Paths, target: str) -> str:
    return step.rows.merge(target, step.relation)


@statement.register(MergeRows)
@statement.register(MergeKeys)
@statement.register(MergeGroups)
def _merge(step: MergeRows | MergeKeys | MergeGroups, paths: Paths, target: str) -> str:
    return step.merge(target, step.relation)


def _view(name: str, sql: str) -> str:
    return f"CREATE OR REPLACE TEMPORARY VIEW {quoted(name)} AS {sql}"
