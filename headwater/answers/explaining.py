"""What the next refresh of a view would do, and why not otherwise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from headwater.attempt.experience import last_measured
from headwater.attempt.request import Request
from headwater.attempt.situation import capture, situate
from headwater.graph.pins import current, is_dictionary, pinned_sources
from headwater.plan.planner import Choice, choose, plan_refresh
from headwater.plan.script import script
from headwater.plan.situation import Situation
from headwater.plan.soundness import Verdict
from headwater.plan.steps import RefreshPlan
from headwater.plan.view import CompiledView
from headwater.store.attempt_record import AttemptRecord
from headwater.vocabulary.errors import HeadwaterError
from headwater.vocabulary.frontier import Frontier, SourceVersion
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.technique import Technique
from headwater.workspace.compiled import compiled_view, stored_tables
from headwater.workspace.settling import look
from headwater.workspace.workspace import Workspace


@dataclass(frozen=True)
class Explanation:
    """Techniques, their verdicts, the chosen one and its steps: the list that refresh runs."""

    view: str
    chosen: Technique | None
    refusal: HeadwaterError | None
    reasons: tuple[Reason, ...]
    verdicts: tuple[Verdict, ...]
    prices: dict[str, float]
    plan: RefreshPlan | None
    frontier: Frontier
    target: Frontier
    sql: tuple[str, ...]
    last: AttemptRecord | None = None  # the newest refresh whose price was forecast
    dictionaries: tuple[str, ...] = ()  # BATCH sources that the view reads itself

    def to_json(self) -> dict[str, Any]:
        return {
            "view": self.view,
            "technique": self.chosen.value if self.chosen else None,
            "refusal": self.refusal.to_json() if self.refusal else None,
            "reasons": [{"code": r.code, "text": r.text} for r in self.reasons],
            "techniques": [
                {
                    "technique": v.technique.value,
                    "sound": v.sound,
                    "code": v.reason.code,
                    "reason": v.reason.text,
                    "price": _finite(self.prices.get(v.technique.value)),
                }
                for v in self.verdicts
            ],
            "steps": [{"name": s.name, "kind": type(s).__name__} for s in self.plan.steps]
            if self.plan
            else [],
            "frontier": self.frontier.to_json(),
            "target": self.target.to_json(),
            "sql": list(self.sql),
            "last": _last(self.last),
            "dictionaries": list(self.dictionaries),
        }


def _last(attempt: AttemptRecord | None) -> dict[str, Any] | None:
    if attempt is None:
        return None
    return {
        "attempt": attempt.id,
        "technique": attempt.technique.value if attempt.technique else None,
        "seconds": attempt.seconds,
        "forecast": dict(attempt.forecast),
    }


def _finite(price: float | None) -> float | None:
    return price if price is not None and math.isfinite(price) else None


def explain_view(
    workspace: Workspace, name: str, *, hypothetical: bool = True, request: Request | None = None
) -> Explanation:
    """Plan a refresh without running it.

    Where nothing changed there is nothing to plan; then, if `hypothetical`, the plan for a change
    of every source by updates and deletes is shown instead.
    """
    record = workspace.view(name)
    known = look(workspace, record.name)
    view = compiled_view(workspace, record.name)
    asked = request or Request()
    pins = explained_pins(workspace, record.name, dictionaries=asked.moves_dictionaries)
    changes = capture(workspace, view, known, pins)
    situation = situate(workspace, view, known, changes, pins, asked)
    quiet = not (situation.changed or situation.must_rebuild or asked.is_rebuild)
    if quiet and hypothetical:
        situation = _imagined(situation)
    refusal, choice = (None, None) if quiet and not hypothetical else _chosen(view, situation)
    plan = plan_refresh(view, situation, choice) if choice else None
    tables = stored_tables(workspace, view)
    chosen = Technique.SKIP if quiet else choice.technique if choice else None
    return Explanation(
        record.name,
        chosen,
        refusal,
        _reasons(choice, quiet=quiet, hypothetical=hypothetical),
        choice.verdicts if choice else (),
        {p.technique.value: p.seconds for p in choice.prices} if choice else {},
        plan,
        known.record.frontier,
        Frontier.of(pins, situation.clock),
        script(plan, tables, known.record.path) if plan else (),
        last_measured(workspace.ledger, record.name),
        tuple(name for name in sorted(pins) if is_dictionary(workspace, name)),
    )


def explained_pins(
    workspace: Workspace, name: str, *, dictionaries: bool = True
) -> dict[str, SourceVersion]:
    """The newest versions of everything a view reads itself."""
    sources = pinned_sources(workspace, [name], dictionaries=dictionaries)
    return {
        read: current(workspace, read) if workspace.is_view(read) else sources[read]
        for read in workspace.inputs(name)
    }


def _imagined(situation: Situation) -> Situation:
    windows = {
        source: replace(window, changed=True, before=window.after)
        for source, window in situation.windows.items()
    }
    return replace(situation, windows=windows)


def _chosen(
    view: CompiledView, situation: Situation
) -> tuple[HeadwaterError | None, Choice | None]:
    try:
        return None, choose(view, situation)
    except HeadwaterError as refusal:
        return refusal, None


def _reasons(choice: Choice | None, *, quiet: bool, hypothetical: bool) -> tuple[Reason, ...]:
    if quiet:
        shown = "; the steps show what a change would cause" if hypothetical else ""
        return (Reason("NO_CHANGE", f"nothing to do now{shown}"),)
    return choice.reasons if choice else ()
