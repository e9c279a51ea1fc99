"""Compiled views of a workspace: from the ledger where they are known, else with Spark's help."""

from __future__ import annotations

from dataclasses import replace

from headwater.define.once import OnceError
from headwater.define.view import ViewDef
from headwater.execute.compiling import compile_query
from headwater.plan.compiled import Compilation, restore
from headwater.plan.exact import delicate
from headwater.plan.format import is_current
from headwater.plan.padded import unlike_padding
from headwater.plan.stored import StoredTable
from headwater.plan.view import Columns, CompiledView
from headwater.vocabulary.errors import DefinitionConflict
from headwater.vocabulary.reason import Reason
from headwater.workspace.workspace import Workspace


def compiled_view(workspace: Workspace, name: str) -> CompiledView:
    """The compiled form of a view: of its new definition inside its build, else of its table."""
    definition = workspace.definitions.views[name]
    return restore(name, definition.query, Compilation.from_json(compiled_text(workspace, name)))


def compiled_text(workspace: Workspace, name: str) -> str:
    """The stored compilation; made now if there is none."""
    waiting = workspace.pending.get(name)
    stored = waiting.compiled if waiting is not None else workspace.view(name).compiled
    if stored and is_current(stored):
        return stored
    made = compile_definition(workspace, name).to_json()
    if waiting is not None:
        waiting.compiled = made
    else:
        fingerprint = workspace.definitions.views[name].fingerprint
        workspace.ledger.views.redefine(name, fingerprint=fingerprint, compiled=made)
    return made


def compile_definition(workspace: Workspace, name: str) -> Compilation:
    """Ask Spark; its complaint becomes ours, with the view's place."""
    definition = workspace.definitions.views[name]
    sources = {
        source: workspace.columns_of(source, lambda view: visible_columns(workspace, view))
        for source in workspace.inputs(name)
    }
    try:
        compilation = compile_query(
            workspace.spark, definition.query, sources, definition.compute_once, definition.key
        )
    except OnceError as refusal:
        where = definition.query_location
        raise DefinitionConflict(f"{name}: {refusal.message}", where=where) from refusal
    except Exception as error:
        if type(error).__name__ not in {"AnalysisException", "ParseException"}:
            raise
        what = str(error).split("\n")[0]
        raise DefinitionConflict(f"{name}: {what}", where=definition.query_location) from error
    _refuse_duplicates(definition, compilation.columns)
    compilation = _without_padding(workspace, definition, compilation)
    if definition.compute_once and compilation.refusal is not None:
        why = f"{name}: COMPUTE ONCE needs a query that is followed: {compilation.refusal}"
        raise DefinitionConflict(why, where=definition.query_location)
    return compilation


def _without_padding(
    workspace: Workspace, definition: ViewDef, compilation: Compilation
) -> Compilation:
    padded = {name: workspace.padded_columns(name) for name in compilation.sources}
    if compilation.refusal is not None or not any(padded.values()):
        return compilation
    root = restore(definition.name, definition.query, compilation).query.root
    culprit = unlike_padding(definition.query, root, padded)
    if culprit is None:
        return compilation
    why = f"{culprit} does not pad the CHAR columns that it compares"
    return replace(compilation, refusal=Reason("CHAR_PADDED", why))


def _refuse_duplicates(definition: ViewDef, columns: Columns) -> None:
    names = [column.lower() for column, _ in columns]
    for name in names:
        if names.count(name) > 1:
            raise DefinitionConflict(
                f"{definition.display} shows `{name}` twice",
                where=definition.query_location,
                hint="give one of them another name with AS",
            )


def visible_columns(workspace: Workspace, name: str) -> Columns:
    return compiled_view(workspace, name).columns


def stored_tables(workspace: Workspace, view: CompiledView) -> dict[str, StoredTable]:
    """Where each table that a view reads lies, and how its columns are called there."""
    return {
        name: StoredTable(
            workspace.path_of(name),
            compiled_view(workspace, name).stored if workspace.is_view(name) else {},
            delicate(view.sources[name]),
        )
        for name in view.catalog
    }
