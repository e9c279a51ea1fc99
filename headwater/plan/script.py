"""A plan as SQL that a person can run, statement by statement."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

from headwater.plan.consolidate import consolidated, difference
from headwater.plan.patch import patched
from headwater.plan.render import listed
from headwater.plan.steps import (
    TARGET,
    Append,
    Derive,
    Overwrite,
    Patch,
    ReadChanges,
    ReadSnapshot,
    ReadView,
    RefreshPlan,
    Renew,
    Rewrite,
    Step,
)
from headwater.plan.stored import StoredTable
from headwater.vocabulary.names import FILE, PLACE, WEIGHT, quoted

Tables = Mapping[str, StoredTable]


def script(plan: RefreshPlan, tables: Tables, target: str) -> tuple[str, ...]:
    """One statement per step."""
    return tuple(statement(step, tables, f"delta.{quoted(target)}") for step in plan.steps)


@singledispatch
def statement(step: Step, tables: Tables, target: str) -> str:
    """The SQL of one step."""
    raise TypeError(f"no SQL for {type(step).__name__}")


@statement.register
def _snapshot(step: ReadSnapshot, tables: Tables, target: str) -> str:
    return _view(step.name, _at(tables[step.source], step.version, step.columns))


def _at(table: StoredTable, version: int, names: tuple[str, ...]) -> str:
    place = f"delta.{quoted(table.path)} VERSION AS OF {version}"
    return f"SELECT {table.columns(names)} FROM {place}"


@statement.register
def _changes(step: ReadChanges, tables: Tables, target: str) -> str:
    table = tables[step.source]
    if not step.has_feed:
        after, before = (_at(table, v, step.columns) for v in (step.up_to, step.after))
        sides = f"({after})", f"({before})"
        return _view(step.name, difference(step.columns, *sides, table.fragile))
    sign = "CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END"
    escaped = table.path.replace("'", "\\'")
    first = min(step.after + 1, step.up_to)  # Delta refuses to begin after the newest version
    feed = f"table_changes_by_path('{escaped}', {first}, {step.up_to})"
    if first <= step.after:
        feed += f" WHERE _commit_version > {step.after}"
    weight = f"CAST({sign} AS BIGINT) AS {quoted(WEIGHT)}"
    signed = f"SELECT {table.columns(step.columns)}, {weight} FROM {feed}"
    if not step.inserts_only:
        signed = consolidated(step.columns, f"({signed})", table.fragile)
    return _view(step.name, signed)


@statement.register
def _own(step: ReadView, tables: Tables, target: str) -> str:
    """Any number will do that the same row gets again: not every table tells its rows' places."""
    place = f"_metadata.file_name AS {FILE}, monotonically_increasing_id() AS {PLACE}"
    return _view(step.name, f"SELECT *, {place} FROM {target}")


@statement.register
def _derive(step: Derive, tables: Tables, target: str) -> str:
    return _view(step.name, step.sql)


@statement.register
def _append(step: Append, tables: Tables, target: str) -> str:
    names = listed(step.columns)
    return f"INSERT INTO {target} ({names}) SELECT {names} FROM {quoted(step.relation)}"


@statement.register
def _overwrite(step: Overwrite, tables: Tables, target: str) -> str:
    names = listed(step.columns)
    source = f"SELECT {names} FROM {quoted(step.relation)}"
    return f"CREATE OR REPLACE TABLE {target} USING delta AS {source}"


@statement.register
def _rewrite(step: Rewrite, tables: Tables, target: str) -> str:
    names = listed(step.columns)
    return f"INSERT OVERWRITE {target} SELECT {names} FROM {quoted(step.content)}"


@statement.register
def _renew(step: Renew, tables: Tables, target: str) -> str:
    return f"INSERT OVERWRITE {target} SELECT {listed(step.columns)} FROM {quoted(step.relation)}"


@statement.register
def _patch(step: Patch, tables: Tables, target: str) -> str:
    content = patched(step.columns, TARGET, step.relation)
    return f"INSERT OVERWRITE {target} {content}"


def _view(name: str, sql: str) -> str:
    return f"CREATE OR REPLACE TEMPORARY VIEW {quoted(name)} AS {sql}"
