"""Compiled views of a workspace: from the ledger where they are known, else with Spark's help."""

from __future__ import annotations

from headwater.execute.compiling import compile_query
from headwater.plan.compiled import Compilation, restore
from headwater.plan.stored import StoredTable
from headwater.plan.view import Columns, CompiledView
from headwater.vocabulary.errors import DefinitionConflict
from headwater.workspace import Workspace


def compiled_view(workspace: Workspace, name: str, *, fresh: bool = False) -> CompiledView:
    """The compiled form of a defined view; `fresh` compiles it anew against today's sources."""
    definition = workspace.definitions.views[name]
    record = workspace.view(name)
    if fresh or not record.compiled:
        compilation = compile_definition(workspace, name)
        workspace.ledger.views.redefine(
            name, fingerprint=definition.fingerprint, compiled=compilation.to_json()
        )
        return restore(name, definition.query, compilation)
    return restore(name, definition.query, Compilation.from_json(record.compiled))


def compile_definition(workspace: Workspace, name: str) -> Compilation:
    """Ask Spark; its complaint becomes ours, with the view's place."""
    definition = workspace.definitions.views[name]
    sources = {
        source: workspace.columns_of(source, lambda view: visible_columns(workspace, view))
        for source in workspace.inputs(name)
    }
    try:
        return compile_query(workspace.spark, definition.query, sources)
    except Exception as error:
        if type(error).__name__ not in {"AnalysisException", "ParseException"}:
            raise
        what = str(error).split("\n")[0]
        raise DefinitionConflict(f"{name}: {what}", where=definition.query_location) from error


def visible_columns(workspace: Workspace, name: str) -> Columns:
    return compiled_view(workspace, name).columns


def stored_tables(workspace: Workspace, view: CompiledView) -> dict[str, StoredTable]:
    """Where each table that a view reads lies, and how its columns are called there."""
    return {
        name: StoredTable(
            workspace.path_of(name),
            compiled_view(workspace, name).stored if workspace.is_view(name) else {},
        )
        for name in view.catalog
    }
