"""What the next refresh would do, and why not otherwise."""

from __future__ import annotations

from functools import singledispatch
from math import isinf

from headwater.answers.explaining import Explanation
from headwater.cli.blocks import Block, Table, table
from headwater.plan.steps import Derive, ReadChanges, ReadSnapshot, ReadView, Step, Write
from headwater.store.attempt_record import AttemptRecord


def explanation_blocks(explanation: Explanation, *, sql: bool = False) -> list[Block]:
    """Head, techniques, then the steps or their SQL."""
    blocks: list[Block] = ["\n".join(_head(explanation))]
    if explanation.verdicts:
        blocks.append(_techniques(explanation))
    blocks.append(sql_script(explanation) if sql else "\n".join(step_lines(explanation)))
    return blocks


def step_lines(explanation: Explanation) -> list[str]:
    """The steps that refresh runs, in order."""
    if explanation.plan is None:
        return ["no step would run"]
    steps = explanation.plan.steps
    width = len(str(len(steps)))
    shown = [f"  {at:>{width}}  {step.name}: {described(step)}" for at, step in enumerate(steps, 1)]
    return [f"steps of {explanation.plan.technique.value}:", *shown]


def sql_script(explanation: Explanation) -> str:
    """The steps as statements that a person can run one after another."""
    technique = explanation.plan.technique.value if explanation.plan else "nothing"
    head = [
        f"-- view {explanation.view}: {technique}",
        f"-- from {explanation.frontier} to {explanation.target}",
        *(f"-- {reason}" for reason in explanation.reasons),
    ]
    return "\n".join([*head, *(f"{statement};" for statement in explanation.sql)])


def _head(explanation: Explanation) -> list[str]:
    chosen = explanation.chosen.value if explanation.chosen else "refused"
    lines = [
        f"{explanation.view}: {chosen}",
        f"  from {explanation.frontier}",
        f"  to   {explanation.target}",
        *(f"  why  {reason}" for reason in explanation.reasons),
    ]
    if explanation.dictionaries:
        held = ", ".join(explanation.dictionaries)
        lines.append(f"  batch {held}: served refreshes leave it to the dictionary cadence")
    if explanation.refusal is not None:
        lines.append(f"  {explanation.refusal}")
    if explanation.last is not None:
        lines.append(f"  last {_measured(explanation.last)}")
    return lines


def _measured(attempt: AttemptRecord) -> str:
    """`merge took 0.80 s; forecast without experience: merge 0.50 s, rebuild 0.90 s`."""
    technique = attempt.technique.value if attempt.technique else ""
    forecast = ", ".join(f"{name} {_price(price)}" for name, price in attempt.forecast.items())
    took = _price(attempt.seconds)
    return f"{technique} took {took}; forecast without experience: {forecast}"


def _techniques(explanation: Explanation) -> Table:
    return table(
        "technique sound price code reason",
        [
            (
                verdict.technique.value,
                "yes" if verdict.sound else "no",
                _price(explanation.prices.get(verdict.technique.value)),
                verdict.reason.code,
                verdict.reason.text,
            )
            for verdict in explanation.verdicts
        ],
        right="price",
    )


def _price(seconds: float | None) -> str:
    return "" if seconds is None or isinf(seconds) else f"{seconds:,.2f} s"


@singledispatch
def described(step: Step) -> str:
    """What a step does, in a few words."""
    return type(step).__name__


@described.register
def _snapshot(step: ReadSnapshot) -> str:
    return f"read {step.source} at version {step.version}"


@described.register
def _changes(step: ReadChanges) -> str:
    what = "inserts" if step.inserts_only else "changes"
    how = "from the change feed" if step.has_feed else "by comparing snapshots"
    return f"read {what} of {step.source} after {step.after} up to {step.up_to}, {how}"


@described.register
def _own(_step: ReadView) -> str:
    return "read the view itself"


@described.register
def _derive(step: Derive) -> str:
    return "derive, evaluated once" if step.once else "derive"


@described.register
def _write(step: Write) -> str:
    """`MergeKeys` as `merge keys`."""
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in type(step).__name__)
    return f"{words.strip()} with {step.relation}"
