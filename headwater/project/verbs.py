"""check, plan and apply for a project folder and the statements other applications left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headwater.define.definitions import Definition, Definitions
from headwater.define.diagnostics import Problem, Report
from headwater.define.parse import TYPED, parse
from headwater.define.project import definitions_of, load_project, misplaced
from headwater.define.structure import check_structure
from headwater.project.applying import Action, apply, plan_apply
from headwater.project.checking import check_names, check_with_spark, read_sources
from headwater.vocabulary.errors import ProjectInvalid
from headwater.workspace.workspace import Workspace

Texts = dict[str, str]


@dataclass(frozen=True)
class Wanted:
    """Everything that files and the ledger's statements define."""

    definitions: Definitions
    problems: tuple[Problem, ...]
    texts: Texts


def wanted_definitions(workspace: Workspace) -> Wanted:
    """Files of the project folder first, then the ledger's statements table by number."""
    project = load_project(workspace.config.folder, warehouse=workspace.config.warehouse)
    texts, problems = dict(project.texts), list(project.problems)
    typed: list[Definition] = []
    for record in workspace.ledger.statements.list():
        name = f"<statement {record.statement_no}>"
        texts[name] = record.text
        parsed = parse(record.text, name)
        problems += [*parsed.problems, *misplaced(parsed, "the statements table")]
        typed += definitions_of(parsed)
    kept = [d for d in workspace.definitions.all() if d.location.file == TYPED]
    written = [*project.written, *typed]
    names = {(d.kind, d.name) for d in written}
    written += [d for d in kept if (d.kind, d.name) not in names]
    if typed or kept:
        structure = check_structure(written) if Report.of(problems).valid else ()
        problems = [*{*problems, *structure}]
    return Wanted(Definitions.of(written), tuple(problems), texts)


def check_project(workspace: Workspace, *, with_spark: bool = True) -> tuple[Report, Texts]:
    """All phases as far as they go without error; nothing is written."""
    wanted = wanted_definitions(workspace)
    problems = list(wanted.problems)
    if not Report.of(problems).valid:
        return Report.of(problems), wanted.texts
    sources = read_sources(wanted.definitions, workspace.source_path)
    problems += sources.problems
    if not Report.of(problems).valid:
        return Report.of(problems), wanted.texts
    names = check_names(wanted.definitions, sources.columns, sources.arrangements)
    problems += names.warnings
    if not with_spark:
        return Report.of([*problems, *names.errors]), wanted.texts
    spark = check_with_spark(workspace.spark, wanted.definitions, sources.columns)
    problems += names.errors if spark.errors and names.errors else spark.problems
    return Report.of(problems), wanted.texts


def plan_project(workspace: Workspace) -> list[Action]:
    """What `apply` would do; refuses definitions with errors."""
    return plan_apply(_valid(workspace), workspace)


def apply_project(workspace: Workspace, told: Callable[[Action], None]) -> list[Action]:
    """Do what `plan` shows, if every phase of the check passes; otherwise nothing."""
    actions = plan_project(workspace)
    if actions:
        _refuse(*check_project(workspace))
    return apply(workspace, actions, told)


def _valid(workspace: Workspace) -> Definitions:
    wanted = wanted_definitions(workspace)
    _refuse(Report.of(wanted.problems), wanted.texts)
    return wanted.definitions


def _refuse(report: Report, texts: Texts) -> None:
    if not report.valid:
        raise ProjectInvalid(report.text(texts), where=report.errors[0].location)
