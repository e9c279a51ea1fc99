"""From a plan to a commit: run its steps, then land them exactly once."""

from __future__ import annotations

import math
from dataclasses import dataclass

from headwater.attempt.attempt import Attempt
from headwater.capture.view_log import find_attempt
from headwater.commit.committer import Landed, commit
from headwater.commit.target import TABLE_PROPERTIES, Target
from headwater.execute.cause import cause_of
from headwater.execute.executor import Executor
from headwater.execute.isolated import forgotten_on_failure, isolated, tagged
from headwater.execute.patience import Patience
from headwater.execute.recorder import Recorder
from headwater.execute.relations import Kept
from headwater.execute.shared_changes import SharedChanges
from headwater.execute.staged import Staged, Stored
from headwater.plan.situation import Situation
from headwater.plan.steps import Patch, RefreshPlan
from headwater.plan.stored import StoredTable
from headwater.plan.view import CompiledView
from headwater.publish.publisher import Known
from headwater.vocabulary.errors import CommitFailed, HeadwaterError, SparkFailed
from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.names import TRANSACTION_APP
from headwater.vocabulary.stamp import Stamp
from headwater.vocabulary.technique import Technique
from headwater.workspace.compiled import compiled_text, stored_tables
from headwater.workspace.workspace import Workspace


@dataclass(frozen=True)
class Run:
    """One attempt to move one view, while nobody else does."""

    workspace: Workspace
    attempt: Attempt
    view: CompiledView
    known: Known
    target: Frontier
    recorder: Recorder
    changes_read: SharedChanges


def execute(
    run: Run, situation: Situation, plan: RefreshPlan, *, seconds: float = math.inf
) -> Staged:
    """Run the plan's steps; nothing of it touches the view. Stopped where it takes too long."""
    spark, attempt, recorder = run.workspace.spark, run.attempt, run.recorder
    tables = stored_tables(run.workspace, run.view)
    patience = Patience(spark, attempt.tag, seconds)

    def checkpoint(step: str) -> None:
        attempt.checkpoint(step)
        if patience.is_over:
            raise SparkFailed(_too_long(run, plan, seconds))

    try:
        with patience, tagged(spark, attempt.tag), recorder.part("execute", spark):
            with recorder.part("session"):
                session = isolated(spark)
            stored, shared = _stored(run), run.changes_read
            with forgotten_on_failure(session):
                executor = Executor(session, tables, stored, situation.windows, recorder, shared)
                return executor.run(plan, checkpoint)
    except HeadwaterError:
        raise
    except Exception as error:
        attempt.stop_if_asked("while it ran")
        if patience.is_over:
            raise SparkFailed(_too_long(run, plan, seconds)) from error
        raise SparkFailed(f"{run.view.name} by {plan.technique}: {cause_of(error)}") from error


def _too_long(run: Run, plan: RefreshPlan, seconds: float) -> str:
    return (
        f"{run.view.name} by {plan.technique}: stopped after {seconds:.0f} s, "
        "several times what a rebuild is expected to take"
    )


def land(
    run: Run, situation: Situation, plan: RefreshPlan, staged: Staged
) -> tuple[Landed | None, Stamp]:
    """Commit what was staged, if it is anything; the stamp says what, and for which versions."""
    target = _target(run, plan.technique, reshapes=not situation.exists)
    log = run.workspace.log_of(run.view.name)
    try:
        with tagged(run.workspace.spark, run.attempt.tag):
            landed = commit(staged, target, lambda id_, after: find_attempt(log, id_, after))
    except CommitFailed:
        run.attempt.stop_if_asked("while it committed")
        raise
    if landed is not None and isinstance(staged.write, Patch):
        _tell(run, landed, staged.kept[staged.write.relation])
    return landed, target.stamp


def _tell(run: Run, landed: Landed, patch: Kept) -> None:
    """The views that read this one, and are refreshed with it, need not ask its table."""
    view = run.view
    table = StoredTable(run.workspace.path_of(view.name), view.stored)
    schema = run.workspace.log_of(view.name).metadata(run.known.latest).schema
    padded = {field.name for field in schema if field.is_padded}  # rows from memory do not tell
    columns = tuple(c for c in view.columns if view.stored[c[0]] not in padded)
    run.changes_read.tell(view.name, table, landed.version, columns, patch)


def _stored(run: Run) -> Stored | None:
    known = run.known
    if known.latest < 0:
        return None
    log = run.workspace.log_of(known.record.name)
    table = log.metadata(known.latest)
    return Stored(
        known.record.path,
        known.latest,
        log.files(known.latest),
        has_feed=table.feed_enabled,
        vectors=table.vectors_enabled,
    )


def _target(run: Run, technique: Technique, *, reshapes: bool) -> Target:
    workspace, view = run.workspace, run.view
    definition = workspace.definitions.views[view.name]
    known_sources = workspace.definitions.sources
    sources = {name: known_sources[name] for name in view.catalog if name in known_sources}
    stamp = Stamp(
        view=view.name,
        attempt=run.attempt.id,
        sequence=_next_sequence(workspace, run.known),
        definition=definition.fingerprint,
        settings=workspace.settings_fingerprint(),
        frontier=run.target,
        technique=technique,
        base=run.known.latest,
        compiled=compiled_text(workspace, view.name),
        statement=definition.text,
        sources={name: source.text for name, source in sources.items()},
        places={
            view.name: definition.location,
            **{name: source.location for name, source in sources.items()},
        },
    )
    return Target(
        run.known.record.path,
        stamp,
        definition.partitioned_by,
        definition.cluster_by,
        TABLE_PROPERTIES,
        reshapes,
        plain_text=any(reason.code == "CHAR_PADDED" for reason in view.reasons),
    )


def _next_sequence(workspace: Workspace, known: Known) -> int:
    """One above what Delta remembers at the version this refresh started from.

    Not at the newest one: whoever committed since then has used this very number, which fences us.
    """
    if known.latest < 0:
        return 1
    log = workspace.log_of(known.record.name)
    last = log.transaction_version(TRANSACTION_APP, known.latest) or 0
    return max(known.stamp.sequence if known.stamp else 0, last) + 1
