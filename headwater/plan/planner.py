"""The cheapest correct way, as a list of steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater.plan.compiled import uncomparable
from headwater.plan.cost import Experience, Price, Size, model_seconds
from headwater.plan.deltas import LAWS
from headwater.plan.planning import Planning
from headwater.plan.shape import followed_top
from headwater.plan.soundness import Verdict, only_gains, recomputed_parts, verdicts
from headwater.plan.steps import (
    TARGET,
    ReadSnapshot,
    ReadView,
    RefreshPlan,
    Step,
    Write,
)
from headwater.plan.strategies.append import append_write
from headwater.plan.strategies.groups import groups_write
from headwater.plan.strategies.inputs import SourceWindow, reading_steps
from headwater.plan.strategies.keys import keys_write
from headwater.plan.strategies.rebuild import overwrite_write, rewrite_write
from headwater.plan.strategies.rows import rows_write
from headwater.plan.strategies.top import top_write
from headwater.plan.view import CompiledView
from headwater.vocabulary.errors import StrictRefused, TechniqueRefused
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.technique import Policy, Technique

_REBUILD_MARGIN = 1.1


@dataclass(frozen=True)
class Situation:
    """What the planner knows about one refresh besides the view itself."""

    windows: Mapping[str, SourceWindow]
    must_rebuild: tuple[Reason, ...] = ()
    exists: bool = True  # the view's table has a committed content of this very layout
    policy: Policy = Policy.AUTO
    forced: Technique | None = None
    size: Size = field(default_factory=Size)
    experience: Experience = field(default_factory=Experience)

    @property
    def changed(self) -> frozenset[str]:
        return frozenset(w.source for w in self.windows.values() if w.changed)


@dataclass(frozen=True)
class Choice:
    """The verdicts and prices that led to a technique."""

    technique: Technique
    verdicts: tuple[Verdict, ...]
    prices: tuple[Price, ...]
    reasons: tuple[Reason, ...]

    @property
    def forecast(self) -> dict[str, float]:
        """The model's own price of every sound technique, to be compared with what it took."""
        return {p.technique.value: p.model for p in self.prices if p.sound}


def choose(view: CompiledView, situation: Situation) -> Choice:
    """The technique to use; refuses where the user's wish cannot be met soundly."""
    found = verdicts(view, situation.windows, situation.must_rebuild)
    priced = tuple(_price(view, situation, verdict) for verdict in found)
    sound = [v for v in found if v.sound]
    if situation.forced is not None:
        return _forced(view, situation, found, priced)
    incremental = [v for v in sound if v.technique is not Technique.REBUILD]
    why = next((v.reason for v in found if not v.sound), Reason("NONE", ""))
    if situation.policy is Policy.STRICT and not incremental and situation.exists:
        raise StrictRefused(f"{view.name} cannot be refreshed incrementally: {why}")
    if situation.policy is Policy.FULL or not incremental or not situation.exists:
        reasons = situation.must_rebuild or _because(situation, found)
        return Choice(Technique.REBUILD, found, priced, reasons)
    if situation.policy is Policy.AUTO:
        cheapest = min((p for p in priced if p.sound), key=_preference)
        best = next(v for v in sound if v.technique is cheapest.technique)
    else:
        best = incremental[0]
    parts = recomputed_parts(view, best.technique, situation.changed)
    return Choice(best.technique, found, priced, (best.reason, *parts))


def _preference(price: Price) -> float:
    """A rebuild must be clearly cheaper: what follows the view prefers a small change."""
    return price.seconds * (_REBUILD_MARGIN if price.technique is Technique.REBUILD else 1)


def _price(view: CompiledView, situation: Situation, verdict: Verdict) -> Price:
    """The price of the very steps that would run."""
    technique = verdict.technique
    idle = technique is not Technique.REBUILD and not situation.changed
    if idle or not verdict.sound:
        return Price(technique, False, math.inf, math.inf)  # noqa: FBT003
    plan = _plan(view, situation, technique, ())
    model = model_seconds(plan, view.layout.root, situation.windows, situation.size)
    return Price(technique, True, model * situation.experience.factor(technique), model)  # noqa: FBT003


def _because(situation: Situation, found: tuple[Verdict, ...]) -> tuple[Reason, ...]:
    if not situation.exists:
        return (Reason("FIRST_BUILD", "the view has no content yet"),)
    if situation.policy is Policy.FULL:
        return (Reason("POLICY_FULL", "the view's policy asks for it"),)
    return tuple(dict.fromkeys(v.reason for v in found if not v.sound))


def _forced(
    view: CompiledView,
    situation: Situation,
    found: tuple[Verdict, ...],
    priced: tuple[Price, ...],
) -> Choice:
    verdict = next((v for v in found if v.technique is situation.forced), None)
    if (
        verdict is None
        or not verdict.sound
        or (not situation.exists and verdict.technique is not Technique.REBUILD)
    ):
        why = verdict.reason if verdict is not None else Reason("UNKNOWN", "not offered here")
        raise TechniqueRefused(f"{situation.forced} is not sound for {view.name} now: {why}")
    asked = Reason("FORCED", f"{verdict.technique} was asked for")
    return Choice(verdict.technique, found, priced, (asked, verdict.reason))


def plan_refresh(view: CompiledView, situation: Situation, choice: Choice) -> RefreshPlan:
    """The steps of the chosen technique."""
    return _plan(view, situation, choice.technique, choice.reasons)


def _plan(
    view: CompiledView, situation: Situation, technique: Technique, reasons: tuple[Reason, ...]
) -> RefreshPlan:
    planning = Planning(situation.changed, LAWS)
    write = _write(planning, view, situation, technique)
    steps: list[Step] = list(_reads(planning, view, situation))
    if technique is Technique.REBUILD and _by_text(view):
        steps += _named_snapshots(view, situation)
    if any(TARGET in derived.sql for derived in planning.derived):
        steps.append(ReadView(TARGET))
    return RefreshPlan(technique, (*steps, *planning.derived, write), reasons)


def _reads(planning: Planning, view: CompiledView, situation: Situation) -> tuple[Step, ...]:
    return reading_steps(planning, view.layout.root, situation.windows, view.catalog)


def _write(
    planning: Planning, view: CompiledView, situation: Situation, technique: Technique
) -> Write:
    layout = view.layout
    if technique is Technique.APPEND:
        return append_write(planning, layout)
    if technique is Technique.MERGE:
        return groups_write(planning, layout, view.types, inserts_only=_gains(view, situation))
    if technique is Technique.REKEY and layout.keys is not None:
        return keys_write(planning, layout)
    if technique in {Technique.DELTA, Technique.REKEY}:
        by = rows_write if followed_top(layout.root) is None else top_write
        return by(planning, layout)
    text = view.text if _by_text(view) else None
    if not situation.exists or uncomparable(view.columns) is not None:
        return overwrite_write(planning, layout, text)
    return rewrite_write(planning, layout, text)


def _gains(view: CompiledView, situation: Situation) -> bool:
    groups = view.layout.groups
    return groups is not None and only_gains(groups.shape.aggregate.input, situation.windows)


def _by_text(view: CompiledView) -> bool:
    """The user's own words are run where nothing has to be added to them."""
    return not view.layout.hidden


def _named_snapshots(view: CompiledView, situation: Situation) -> list[Step]:
    return [
        ReadSnapshot(source, source, situation.windows[source].after, columns)
        for source, columns in view.catalog.items()
    ]
