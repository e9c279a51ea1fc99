"""The cheapest correct way, as a list of steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from headwater.plan.compiled import ungroupable
from headwater.plan.cost import UNKNOWN, Price, model_seconds
from headwater.plan.deltas import LAWS
from headwater.plan.deltas.clock import delta_of_clock
from headwater.plan.planning import Planning
from headwater.plan.shape import followed_top
from headwater.plan.situation import Situation
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
from headwater.plan.strategies.extrema import extrema_write
from headwater.plan.strategies.firsts import firsts_write
from headwater.plan.strategies.groups import groups_write
from headwater.plan.strategies.inputs import reading_steps
from headwater.plan.strategies.keys import keys_write
from headwater.plan.strategies.once import once_delta, once_rebuild
from headwater.plan.strategies.over_all import over_all_write
from headwater.plan.strategies.rebuild import overwrite_write, rewrite_write
from headwater.plan.strategies.rows import rows_write
from headwater.plan.strategies.top import top_write
from headwater.plan.view import CompiledView
from headwater.vocabulary.errors import StrictRefused, TechniqueRefused
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.technique import Policy, Technique

_REBUILD_MARGIN = 1.1

Way = Callable[[Planning, "CompiledView", "Situation", Technique], Write]


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
        known = (price for price in self.prices if price.sound and price.model < UNKNOWN)
        return {price.technique.value: price.model for price in known}

    def forecast_of(self, technique: Technique) -> dict[str, float]:
        """The model's price of one technique alone, if it has one."""
        return {name: price for name, price in self.forecast.items() if name == technique.value}

    def seconds(self, technique: Technique) -> float:
        """What a technique is expected to take; infinite where it is not open."""
        return next((p.seconds for p in self.prices if p.technique is technique), math.inf)


def choose(view: CompiledView, situation: Situation) -> Choice:
    """The technique to use; refuses where the user's wish cannot be met soundly."""
    found = verdicts(view, situation.windows, situation.must_rebuild, situation.moved_clocks)
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
        open_ = [p for p in priced if p.sound and situation.experience.may_try(p.technique)]
        cheapest = min(open_, key=_preference)
        best = next(v for v in sound if v.technique is cheapest.technique)
    else:
        best = incremental[0]
    parts = recomputed_parts(view, best.technique, situation.changed)
    return Choice(best.technique, found, priced, (best.reason, *parts))


def _preference(price: Price) -> float:
    """A rebuild must be clearly cheaper: who reads the view's changes prefers few of them."""
    return price.seconds * (_REBUILD_MARGIN if price.technique is Technique.REBUILD else 1)


def _price(view: CompiledView, situation: Situation, verdict: Verdict) -> Price:
    """The price of the very steps that would run."""
    technique = verdict.technique
    idle = technique is not Technique.REBUILD and not situation.changed
    if idle or not verdict.sound:
        return Price(technique, False, math.inf, math.inf)  # noqa: FBT003
    model = _model(view, situation, _plan(view, situation, technique, ()))
    seconds = situation.experience.seconds(technique, model)
    return Price(technique, True, seconds, model)  # noqa: FBT003


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
    ways = _ways(view, situation, technique)
    plans = [_assembled(view, situation, technique, way, reasons) for way in ways]
    return min(plans, key=lambda plan: _model(view, situation, plan))


def _ways(view: CompiledView, situation: Situation, technique: Technique) -> list[Way]:
    """The writes that give the same content; they differ in what the change feed tells."""
    may_overwrite = _may_overwrite(view, situation)
    if technique is Technique.REBUILD:
        compares = situation.exists and ungroupable(view.decided) is None
        return [*([_rewrite] if compares else []), *([_overwrite] if may_overwrite else [])] or [
            _overwrite
        ]
    layout = view.layout
    by_key = technique in {Technique.MERGE, Technique.REKEY} and (layout.keys or layout.all_rows)
    renews = by_key and may_overwrite and situation.policy is Policy.AUTO
    return [_write, *([_renewed] if renews else [])]


def _may_overwrite(view: CompiledView, situation: Situation) -> bool:
    """Nobody has to read a whole new content; and who asked for a rebuild may only want proof.

    Values that were computed once would be lost.
    """
    readers = situation.consumed or (situation.followed and not situation.is_flooded)
    return situation.forced is None and not readers and view.once is None


def _model(view: CompiledView, situation: Situation, plan: RefreshPlan) -> float:
    layout = view.layout
    return model_seconds(plan, layout.root, situation.windows, situation.size, layout.firsts)


def _assembled(
    view: CompiledView,
    situation: Situation,
    technique: Technique,
    way: Way,
    reasons: tuple[Reason, ...],
) -> RefreshPlan:
    clocks = (situation.clock, situation.clock_before)
    laws = LAWS, situation.large, delta_of_clock
    planning = Planning(situation.changed, *laws, *clocks, view.fragile, view.fragile_columns)
    write = way(planning, view, situation, technique)
    steps: list[Step] = list(_reads(planning, view, situation))
    if technique is Technique.REBUILD and _by_text(view):
        steps += _named_snapshots(view, situation)
    if any(TARGET in derived.sql for derived in planning.derived):
        steps.append(ReadView(TARGET))
    return RefreshPlan(technique, (*steps, *planning.derived, write), reasons)


def _reads(planning: Planning, view: CompiledView, situation: Situation) -> tuple[Step, ...]:
    return reading_steps(planning, view.layout.root, situation.windows, view.catalog)


def _write(planning: Planning, view: CompiledView, now: Situation, technique: Technique) -> Write:
    layout = view.layout
    if technique is Technique.APPEND:
        return append_write(planning, layout)
    if layout.keys is not None and technique in {Technique.MERGE, Technique.REKEY}:
        return _by_key(planning, view, now, technique, whole=False)
    if technique in {Technique.DELTA, Technique.REKEY}:
        return _by_rows(planning, view, now)
    raise ValueError(f"{technique} is no incremental technique")


def _renewed(planning: Planning, view: CompiledView, now: Situation, technique: Technique) -> Write:
    if view.layout.all_rows is not None:
        return _over_all(planning, view, now, whole=True)
    return _by_key(planning, view, now, technique, whole=True)


def _by_key(
    planning: Planning, view: CompiledView, now: Situation, technique: Technique, *, whole: bool
) -> Write:
    if technique is Technique.REKEY:
        return keys_write(planning, view.layout, whole=whole)
    gains = _gains(view, now)
    if not gains and view.layout.groups is not None and view.layout.groups.has_extremes:
        return extrema_write(planning, view.layout, view.types, whole=whole)
    return groups_write(planning, view.layout, view.types, inserts_only=gains, whole=whole)


def _by_rows(planning: Planning, view: CompiledView, now: Situation) -> Write:
    if view.once is not None:
        return once_delta(planning, view.layout, view.once)
    if view.layout.all_rows is not None:
        return _over_all(planning, view, now, whole=False)
    if view.layout.firsts is not None:
        return firsts_write(planning, view.layout, view.layout.firsts)
    by = rows_write if followed_top(view.layout.root) is None else top_write
    return by(planning, view.layout)


def _over_all(planning: Planning, view: CompiledView, now: Situation, *, whole: bool) -> Write:
    below = view.layout.all_rows
    gains = below is not None and only_gains(below, now.windows, now.moved_clocks)
    return over_all_write(planning, view.layout, gains=gains, whole=whole)


def _overwrite(planning: Planning, view: CompiledView, now: Situation, _: Technique) -> Write:
    return overwrite_write(planning, view.layout, _text(view, now), now.asked_first(view))


def _rewrite(planning: Planning, view: CompiledView, now: Situation, _: Technique) -> Write:
    if view.once is not None:
        return once_rebuild(planning, view.layout, view.once, _text(view, now))
    return rewrite_write(planning, view.layout, _text(view, now))


def _text(view: CompiledView, situation: Situation) -> str | None:
    return view.text(situation.clock) if _by_text(view) else None


def _gains(view: CompiledView, situation: Situation) -> bool:
    groups = view.layout.groups
    if groups is None:
        return False
    below = groups.shape.aggregate.input
    return only_gains(below, situation.windows, situation.moved_clocks)


def _by_text(view: CompiledView) -> bool:
    """The user's own words are run where nothing has to be added to them."""
    return not view.layout.hidden and not view.ties_broken


def _named_snapshots(view: CompiledView, situation: Situation) -> list[Step]:
    return [
        ReadSnapshot(source, source, situation.windows[source].after, columns)
        for source, columns in view.catalog.items()
    ]
