"""The SQL that would bring every view of a project up to date, built or not. Nothing is written."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.answers.explaining import explain_view
from headwater.capture.log import open_log
from headwater.define.definitions import Definitions
from headwater.define.graph import dependencies, levels
from headwater.define.kind import Kind
from headwater.execute.compiling import compile_query
from headwater.plan.compiled import restore
from headwater.plan.planner import choose, plan_refresh
from headwater.plan.script import script
from headwater.plan.situation import Situation
from headwater.plan.stored import StoredTable
from headwater.plan.strategies.inputs import SourceWindow
from headwater.plan.view import CompiledView
from headwater.project.applying import Action, Verb
from headwater.project.checking import read_sources
from headwater.project.verbs import plan_project, wanted_definitions
from headwater.vocabulary.reason import Reason
from headwater.workspace.workspace import Workspace


@dataclass(frozen=True)
class ViewScript:
    """The statements for one view, and what they are for."""

    view: str
    why: str
    statements: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        return {"view": self.view, "why": self.why, "sql": list(self.statements)}


def planned_scripts(workspace: Workspace) -> list[ViewScript]:
    """One script per view, each after those of the views it reads."""
    actions = {a.name: a for a in plan_project(workspace) if a.kind is Kind.VIEW}
    wanted = wanted_definitions(workspace).definitions
    found = _Tables(workspace, wanted)
    scripts = []
    for name in (view for level in levels(wanted, wanted.views) for view in level):
        view, action = found.compiled(name), actions.get(name)
        is_built = action is not None and action.verb is not Verb.ALTER
        if action is None or not is_built:
            scripts.append(_refresh_script(workspace, name))
        else:
            scripts.append(_build_script(found, view, action))
        found.add(view, is_built=is_built)
    return scripts


def _refresh_script(workspace: Workspace, name: str) -> ViewScript:
    explained = explain_view(workspace, name)
    technique = explained.plan.technique if explained.plan else "refused"
    why = "; ".join([str(technique), *map(str, explained.reasons)])
    return ViewScript(name, why, explained.sql)


def _build_script(found: _Tables, view: CompiledView, action: Action) -> ViewScript:
    windows = {
        read: SourceWindow(read, None, found.versions[read], changed=True) for read in view.catalog
    }
    why = (Reason("FIRST_BUILD", action.why),)
    situation = Situation(windows, why, exists=False, clock=found.clock(view))
    plan = plan_refresh(view, situation, choose(view, situation))
    tables = {read: found.tables[read] for read in view.catalog}
    statements = script(plan, tables, found.view_path(view.name))
    return ViewScript(view.name, f"{action.verb}; {action.why}", statements)


class _Tables:
    """Columns, places and versions of all that a view may read, views to be built included."""

    def __init__(self, workspace: Workspace, wanted: Definitions) -> None:
        self._workspace = workspace
        self._wanted = wanted
        self.columns = dict(read_sources(wanted, workspace.source_path).columns)
        self.tables = {
            name: StoredTable(workspace.source_path(source), {})
            for name, source in wanted.sources.items()
        }
        self.versions = {
            name: open_log(table.path).latest_version() for name, table in self.tables.items()
        }

    def compiled(self, name: str) -> CompiledView:
        wanted = self._wanted.views[name]
        reads = {read: self.columns[read] for read in dependencies(self._wanted, name)}
        once = (wanted.compute_once, wanted.key)
        made = compile_query(self._workspace.spark, wanted.query, reads, *once)
        return restore(name, wanted.query, made)

    def add(self, view: CompiledView, *, is_built: bool) -> None:
        """What those who read the view will find."""
        path = self.view_path(view.name)
        log = open_log(path)
        latest = log.latest_version() if log.exists() else -1
        self.columns[view.name] = view.columns
        self.tables[view.name] = StoredTable(path, view.stored)
        self.versions[view.name] = latest + 1 if is_built else latest

    def clock(self, view: CompiledView) -> dict[str, str]:
        """What the view would be told if it were built now."""
        return self._workspace.clock_values(view.clocks)

    def view_path(self, name: str) -> str:
        record = self._workspace.ledger.views.get(name)
        return record.path if record is not None else self._workspace.config.view_path(name)
