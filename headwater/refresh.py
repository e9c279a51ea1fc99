"""The refresh path on one page: capture -> plan -> execute -> commit -> publish."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace

from headwater.attempt.attempt import Attempt
from headwater.attempt.landing import Run, execute, land
from headwater.attempt.quiet import look_for
from headwater.attempt.receipts import Ran, Started, profiled, receipt_of
from headwater.attempt.request import Request
from headwater.attempt.situation import (
    capture,
    compiled_anew,
    needs_compiling,
    notes,
    quiet_reasons,
    situate,
)
from headwater.commit.committer import Landed
from headwater.execute.job_work import work_by_part
from headwater.execute.recorder import Recorder
from headwater.execute.shared_changes import SharedChanges
from headwater.execute.staged import Staged
from headwater.plan.planner import Choice, choose, plan_refresh
from headwater.plan.situation import Situation
from headwater.plan.steps import Overwrite, RefreshPlan
from headwater.publish.publisher import Known, publish_commit, publish_quiet
from headwater.vocabulary.errors import (
    CommitFailed,
    FrontierUnsettled,
    HeadwaterError,
    RefreshCanceled,
    RefreshFenced,
    SparkFailed,
)
from headwater.vocabulary.frontier import Frontier, SourceVersion
from headwater.vocabulary.profile import Work
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.stamp import Stamp
from headwater.vocabulary.technique import Policy, Technique
from headwater.workspace.compiled import compiled_view
from headwater.workspace.workspace import Workspace

_PATIENCE = 5.0
"""So many times what a rebuild is expected to take; the change must have exploded then."""

_LEAST_PATIENCE = 30.0
"""A cold start alone may take half of it."""

Pins = Mapping[str, SourceVersion]


def refresh_view(
    workspace: Workspace,
    name: str,
    pins: Pins,
    request: Request,
    changes_read: SharedChanges | None = None,
) -> Receipt:
    """Move one view to the pinned versions of what it reads, or say why not."""
    started = Started.now(workspace.clock, others=len(workspace.running))
    known = look_for(workspace, name, request)
    with Attempt(workspace, name, request=request, frontier=known.record.frontier) as attempt:
        recorder, shared = Recorder(attempt.tag), changes_read or SharedChanges({})
        recorder.passed("claim", time.perf_counter() - started.watch)
        try:
            known, target, ran = _refresh_claimed(
                workspace, name, pins, request, attempt, recorder, shared
            )
            running = len(workspace.running)
            receipt = receipt_of(attempt.id, known, target, started, ran, running)
            attempt.succeed(receipt)
            with recorder.part("publish"):
                _publish(workspace, known, ran, attempt)
            receipt = profiled(receipt, started, recorder, _work(workspace, attempt, recorder))
            attempt.succeed(receipt)
        finally:
            workspace.pending.pop(name, None)
    workspace.observer("done")
    return receipt


def _refresh_claimed(
    workspace: Workspace,
    name: str,
    pins: Pins,
    request: Request,
    attempt: Attempt,
    recorder: Recorder,
    shared: SharedChanges,
) -> tuple[Known, Frontier, Ran]:
    attempt.checkpoint("capture")
    with recorder.part("capture"):
        known = look_for(workspace, name, request)
        _refuse_if_redefined(workspace, name, pins)
        view = compiled_view(workspace, name)
        changes = capture(workspace, view, known, pins)
        situation = situate(workspace, view, known, changes, pins, request)
        if needs_compiling(changes, situation):
            view, situation = compiled_anew(workspace, view, situation)
    target = Frontier.of(pins, situation.clock)
    if situation.changed or situation.must_rebuild or request.is_rebuild:
        ran = _run(Run(workspace, attempt, view, known, target, recorder, shared), situation)
    else:
        with recorder.part("publish"):
            publish_quiet(workspace.ledger, known.record, target)
        ran = Ran(Technique.SKIP, quiet_reasons(changes))
    return known, target, replace(ran, reasons=(*ran.reasons, *notes(changes)))


def _run(run: Run, situation: Situation) -> Ran:
    """Plan, execute, commit; once more by rebuild if an incremental way breaks down."""
    run.attempt.checkpoint("plan")
    with run.recorder.part("plan"):
        choice = choose(run.view, situation)
        run.workspace.ledger.attempts.set_technique(run.attempt.id, choice.technique)
        plan = plan_refresh(run.view, situation, choice)
    try:
        ran = _carry_out(run, situation, choice, plan)
    except (SparkFailed, CommitFailed) as error:
        if not _may_fall_back(situation, choice, error):
            raise
        why = Reason("INCREMENTAL_FAILED", f"{choice.technique}: {error.what[:300]}")
        ran = _run(run, replace(situation, must_rebuild=(why,), forced=None))
        return replace(ran, forecast=choice.forecast_of(choice.technique))
    asked_first = isinstance(plan.write, Overwrite)
    if ran.landed is None and (asked_first or choice.technique is not Technique.REBUILD):
        told = f"by {choice.technique}: no row of the view is different"
        told = "nothing that the view uses is different" if asked_first else told
        why = Reason("NO_ROW_CHANGED", told)
        return replace(ran, technique=Technique.SKIP, reasons=(why,))
    return ran


def _carry_out(run: Run, situation: Situation, choice: Choice, plan: RefreshPlan) -> Ran:
    """The plan's steps, then the commit; nothing is written where no row of the view differs."""
    patience = _patience(situation, choice, run.attempt.seconds_left)
    staged = execute(run, situation, plan, seconds=patience)
    try:
        landed, stamp = _landed(run, situation, plan, staged)
    finally:
        staged.release()
    if landed is not None:
        return Ran(choice.technique, choice.reasons, stamp, landed, choice.forecast)
    with run.recorder.part("publish"):
        publish_quiet(run.workspace.ledger, run.known.record, run.target)
    return Ran(choice.technique, choice.reasons, forecast=choice.forecast)


def _landed(
    run: Run, situation: Situation, plan: RefreshPlan, staged: Staged
) -> tuple[Landed | None, Stamp | None]:
    if staged.is_empty and situation.exists:
        return None, None
    with run.recorder.part("commit", run.workspace.spark) as part:
        run.attempt.finish()
        landed, stamp = land(run, situation, plan, staged)
        part.rows = landed.rows_inserted if landed is not None else 0
    return landed, stamp


def _patience(situation: Situation, choice: Choice, seconds_left: float) -> float:
    """How long an incremental way may take before it is given up for a rebuild.

    Where the refresh as a whole has a limit, time is left for that rebuild.
    """
    is_free = situation.policy is Policy.AUTO and situation.forced is None
    if choice.technique is Technique.REBUILD or not is_free:
        return math.inf
    rebuild = choice.seconds(Technique.REBUILD)
    patience = max(_LEAST_PATIENCE, _PATIENCE * rebuild)
    if math.isinf(seconds_left) or seconds_left <= 0:  # whoever is to stop it will
        return patience
    return min(patience, max(seconds_left - 2 * rebuild, seconds_left / 4))


def _refuse_if_redefined(workspace: Workspace, name: str, pins: Pins) -> None:
    """Somebody else may have defined the view anew between the pin and the claim."""
    if set(workspace.inputs(name)) != pins.keys():
        raise FrontierUnsettled(f"{name} was defined anew by somebody else meanwhile")


def _may_fall_back(situation: Situation, choice: Choice, error: HeadwaterError) -> bool:
    if isinstance(error, (RefreshFenced, RefreshCanceled)) or situation.forced is not None:
        return False
    return choice.technique is not Technique.REBUILD and situation.policy is not Policy.STRICT


def _publish(workspace: Workspace, known: Known, ran: Ran, attempt: Attempt) -> None:
    """The ledger follows the commit; if it is away, the next look at the view repairs it."""
    if ran.landed is not None and ran.stamp is not None:
        stamp, version = ran.stamp, ran.landed.version
        workspace.observer("committed")
        attempt.quietly(lambda: publish_commit(workspace.ledger, known.record, stamp, version))
        attempt.quietly(lambda: workspace.settle_pending(known.record.name))
    workspace.observer("publish")


def _work(workspace: Workspace, attempt: Attempt, recorder: Recorder) -> Mapping[str, Work] | None:
    """What Spark did for each part; nothing where it was not even started."""
    spark = workspace.started_spark
    if spark is None:
        return {}
    with recorder.part("profile"):
        return work_by_part(spark, attempt.tag)
