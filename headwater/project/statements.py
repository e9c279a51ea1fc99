"""Statements typed into `hw.sql`: ours are carried out, the rest is Spark's."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import TYPE_CHECKING

from headwater.answers.reading import register_names
from headwater.attempt.request import Request
from headwater.define.definitions import Definition
from headwater.define.diagnostics import Report, render
from headwater.define.kind import Kind, canonical
from headwater.define.parse import parse
from headwater.define.statements import (
    Alter,
    Cancel,
    CreateConsumer,
    CreateHandler,
    CreateSource,
    CreateView,
    Drop,
    Pause,
    PlainSql,
    Refresh,
    Resume,
    Statement,
)
from headwater.define.structure import check_structure
from headwater.graph.refreshing import refresh_views
from headwater.project.applying import define, drop
from headwater.project.checking import check_names, check_with_spark, read_sources
from headwater.store.job_record import JobRecord
from headwater.vocabulary.errors import (
    DefinitionConflict,
    HeadwaterError,
    SourceUnreadable,
    SqlSyntax,
    StatementUnsupported,
    UnknownName,
    WrongUse,
)
from headwater.workspace.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ERRORS: dict[str, type[HeadwaterError]] = {
    "UNKNOWN_TABLE": UnknownName,
    "UNKNOWN_COLUMN": UnknownName,
    "SOURCE_UNREADABLE": SourceUnreadable,
    "STATEMENT_UNSUPPORTED": StatementUnsupported,
}


def run_statements(workspace: Workspace, text: str) -> DataFrame | None:
    """All statements are read before the first is carried out."""
    parsed = parse(text)
    _refuse(Report.of(parsed.problems), text, SqlSyntax)
    result: DataFrame | None = None
    for statement in parsed.statements:
        result = carry_out(statement, workspace, text)
    return result


@singledispatch
def carry_out(statement: Statement, workspace: Workspace, text: str) -> DataFrame | None:
    """Do what one statement says."""
    raise StatementUnsupported(
        f"{type(statement).__name__} is not carried out by this version",
        where=getattr(statement, "location", None),
    )


@carry_out.register(PlainSql)
def _plain(statement: PlainSql, workspace: Workspace, text: str) -> DataFrame | None:
    register_names(workspace)
    return workspace.spark.sql(statement.text)


@carry_out.register(CreateSource)
@carry_out.register(CreateView)
@carry_out.register(CreateHandler)
@carry_out.register(CreateConsumer)
def _create(
    statement: CreateSource | CreateView | CreateHandler | CreateConsumer,
    workspace: Workspace,
    text: str,
) -> DataFrame | None:
    definition = statement.definition
    known = workspace.definitions.find(definition.kind, definition.name)
    if known is not None and statement.if_not_exists:
        return None
    if known is not None and not statement.or_replace:
        raise DefinitionConflict(
            f"{definition.kind.noun} `{definition.display}` exists already",
            where=definition.name_location,
            hint="say CREATE OR REPLACE to define it anew",
        )
    _check(workspace, definition, text)
    define(workspace, definition)
    return None


@carry_out.register(Drop)
def _drop(statement: Drop, workspace: Workspace, text: str) -> DataFrame | None:
    name = canonical(statement.name)
    if statement.if_exists and workspace.definitions.find(statement.kind, name) is None:
        return None
    drop(workspace, statement.kind, name)
    return None


@carry_out.register(Refresh)
def _refresh(statement: Refresh, workspace: Workspace, text: str) -> DataFrame | None:
    request = Request(full=statement.full)
    outcome = refresh_views(workspace, [statement.view], request, as_of=statement.as_of)
    for error in outcome.failures.values():
        raise error
    return None


@carry_out.register(Cancel)
def _cancel(statement: Cancel, workspace: Workspace, text: str) -> DataFrame | None:
    attempts = workspace.ledger.attempts
    if attempts.get(statement.attempt) is None:
        raise UnknownName(f"no attempt `{statement.attempt}`", where=statement.location)
    attempts.request_cancel(statement.attempt, "sql", workspace.clock.now())
    return None


@carry_out.register(Pause)
def _pause(statement: Pause, workspace: Workspace, text: str) -> DataFrame | None:
    for job in _jobs(statement, workspace):
        workspace.ledger.jobs.pause(job.id)
    return None


@carry_out.register(Resume)
def _resume(statement: Resume, workspace: Workspace, text: str) -> DataFrame | None:
    for job in _jobs(statement, workspace):
        workspace.ledger.jobs.resume(job.id, workspace.clock.now())
    return None


def _jobs(statement: Pause | Resume, workspace: Workspace) -> list[JobRecord]:
    """The job of a view or of a handler; that of a view in a handler is its handler's."""
    definition = workspace.definitions.find(statement.kind, statement.name)
    if definition is None:
        raise UnknownName(f"no {statement.kind.noun} `{statement.name}`", where=statement.location)
    _refuse_one_of_several(statement, workspace, definition)
    found = list(workspace.ledger.jobs.find(definition.name))
    if not found:
        raise UnknownName(
            f"{statement.kind.noun} `{statement.name}` has no job yet",
            where=statement.location,
            hint="jobs are made when a process serves: `headwater serve`",
        )
    return found


def _refuse_one_of_several(
    statement: Pause | Resume, workspace: Workspace, definition: Definition
) -> None:
    for handler in workspace.definitions.handlers.values():
        if definition.kind is Kind.VIEW and definition.name in handler.views:
            raise WrongUse(
                f"`{definition.name}` moves with the other views of handler `{handler.name}`",
                where=statement.location,
                hint=f"name the handler: {type(statement).__name__.upper()} HANDLER {handler.name}",
            )


@carry_out.register(Alter)
def _alter(statement: Alter, workspace: Workspace, text: str) -> DataFrame | None:
    definition = workspace.definitions.find(statement.kind, statement.name)
    if definition is None:
        raise UnknownName(f"no {statement.kind.noun} `{statement.name}`", where=statement.location)
    define(workspace, replace(definition, **dict(statement.changes)))
    return None


def _check(workspace: Workspace, definition: Definition, text: str) -> None:
    """The structure of all definitions with the new one among them, then the names it uses."""
    wanted = workspace.definitions.with_(definition)
    problems = check_structure([*wanted.all()])
    mine = [p for p in problems if p.location.file == definition.location.file]
    _refuse(Report.of(mine), text, DefinitionConflict)
    if definition.name in wanted.sources:
        sources = read_sources(
            replace(wanted, sources={definition.name: wanted.sources[definition.name]}),
            workspace.source_path,
        )
        _refuse(Report.of(sources.problems), text, SourceUnreadable)
    if definition.name in wanted.views:
        _check_names(workspace, definition, text)


def _check_names(workspace: Workspace, definition: Definition, text: str) -> None:
    """Only for the sake of a better message than Spark's: Spark itself decides in `define`."""
    wanted = workspace.definitions.with_(definition)
    columns = read_sources(wanted, workspace.source_path).columns
    if set(columns) != set(wanted.sources):
        return
    report = check_names(wanted, columns)
    mine = [p for p in report.errors if p.location.file == definition.location.file]
    if mine and not _spark_accepts(workspace, definition):
        _refuse(Report.of(mine), text, UnknownName)


def _spark_accepts(workspace: Workspace, definition: Definition) -> bool:
    wanted = workspace.definitions.with_(definition)
    columns = read_sources(wanted, workspace.source_path).columns
    report = check_with_spark(workspace.spark, wanted, columns)
    return report.valid


def _refuse(report: Report, text: str, fallback: type[HeadwaterError]) -> None:
    if report.valid:
        return
    first = report.errors[0]
    kind = _ERRORS.get(first.code, fallback)
    shown = "\n".join(render(problem, text) for problem in report.errors)
    raise kind(shown, where=first.location, hint=first.hint)
