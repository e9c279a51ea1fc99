"""What `refresh` does once the project is open: once, again and again, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from headwater.cli.command import Command
from headwater.cli.figures import counted
from headwater.cli.text.profiles import profile_lines
from headwater.cli.text.receipts import failure_lines, reason_lines, receipt_line
from headwater.vocabulary.errors import WrongUse
from headwater.vocabulary.technique import Technique

if TYPE_CHECKING:
    from headwater.api import Headwater
    from headwater.graph.iteration import Outcome
    from headwater.vocabulary.receipt import Receipt

_FIRST_WAIT_SECONDS = 5.0
_LONGEST_WAIT_SECONDS = 300.0
_NO_VIEWS = "no views yet; `headwater apply` builds those of the project"


@dataclass(frozen=True)
class Asked:
    """The options of `refresh` that say what is wanted."""

    views: tuple[str, ...] = ()
    technique: Technique | None = None
    full: bool = False
    only: bool = False
    as_of: int | Mapping[str, int] | None = None
    dictionaries: bool = True
    profile: bool = False
    every: float = 2.0


def refresh_once(command: Command, hw: Headwater, asked: Asked) -> int:
    """A line per view as it finishes; failures at the end."""
    outcome = _refreshed(command, hw, asked)
    return 1 if outcome.failures else 0


def follow(command: Command, hw: Headwater, asked: Asked) -> int:
    """Refresh, then again whenever a source has moved; ends at an error that stays, or by ^C.

    Looking costs no history row and starts no Spark; an error that may pass is waited out. BATCH
    sources are followed at the beginning and then on the dictionary cadence.
    """
    wait = _FIRST_WAIT_SECONDS
    cadence = timedelta(seconds=hw.workspace.config.control.dictionary_seconds)
    follows, read_at = asked.dictionaries, command.clock.now()
    while True:
        outcome = _refreshed(command, hw, asked)
        if asked.dictionaries and not outcome.failures:
            read_at = command.clock.now()
            asked = replace(asked, dictionaries=False)
        asked = replace(asked, full=False, technique=None)
        if any(not error.is_temporary for error in outcome.failures.values()):
            return 1
        if outcome.failures:
            command.clock.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT_SECONDS)
            continue
        wait = _FIRST_WAIT_SECONDS
        while not _is_behind(hw, asked):
            command.clock.sleep(asked.every)
            is_time = follows and command.clock.now() - read_at >= cadence
            asked = replace(asked, dictionaries=is_time)


def show_steps(command: Command, hw: Headwater, asked: Asked) -> int:
    """What a refresh would do now, in its order; a later view's steps may still change."""
    from headwater.answers.explaining import explain_view  # noqa: PLC0415
    from headwater.attempt.request import Request  # noqa: PLC0415
    from headwater.cli.text.explanations import explanation_blocks  # noqa: PLC0415  (speed)

    if asked.as_of is not None:
        raise WrongUse("--dry-run shows the newest versions only", hint="leave out --as-of")
    request = Request(technique=asked.technique, full=asked.full, dictionaries=asked.dictionaries)
    wanted = _named(hw, asked)
    found = [
        explain_view(
            hw.workspace,
            view,
            hypothetical=False,
            request=request if view in wanted else Request(dictionaries=asked.dictionaries),
        )
        for view in _in_order(hw, wanted, only=asked.only)
    ]
    command.output.show(
        [explanation.to_json() for explanation in found],
        lambda: [block for e in found for block in explanation_blocks(e)],
    )
    return 1 if any(e.refusal for e in found) else 0


def _refreshed(command: Command, hw: Headwater, asked: Asked) -> Outcome:
    output = command.output
    names = asked.views or _all(hw)
    width = max((len(name) for name in names), default=0)

    def told(receipt: Receipt) -> None:
        lines = [receipt_line(receipt, width), *reason_lines(receipt)]
        output.tell("\n".join(lines + (profile_lines(receipt) if asked.profile else [])))

    with output.busy(f"refreshing {counted(len(names), 'view')}"):
        outcome = hw.refresh_all(
            asked.views,
            technique=asked.technique,
            full=asked.full,
            only=asked.only,
            as_of=asked.as_of,
            dictionaries=asked.dictionaries,
            told=told,
        )
    output.complain([f"error {line}" for line in failure_lines(outcome.failures)])
    output.show(_outcome_json(outcome), lambda: [] if names else [_NO_VIEWS])
    return outcome


def _outcome_json(outcome: Outcome) -> dict[str, object]:
    return {
        "receipts": [receipt.to_json() for receipt in outcome.iterations],
        "failures": [
            {"view": view, "error": error.to_json()} for view, error in outcome.failures.items()
        ],
    }


def _is_behind(hw: Headwater, asked: Asked) -> bool:
    looked_at = set(_in_order(hw, _named(hw, asked), only=asked.only))
    return any(
        count != 0
        for status in hw.status()
        if status.view in looked_at
        for count in (status.behind if asked.dictionaries else status.due).values()
    )


def _named(hw: Headwater, asked: Asked) -> tuple[str, ...]:
    from headwater.graph.chosen import named_views  # noqa: PLC0415  (speed)

    return named_views(hw.workspace, asked.views or _all(hw), only=asked.only)


def _in_order(hw: Headwater, wanted: tuple[str, ...], *, only: bool) -> list[str]:
    from headwater.define.graph import levels  # noqa: PLC0415
    from headwater.graph.chosen import chosen_views  # noqa: PLC0415  (speed)

    chosen = chosen_views(hw.workspace, wanted, only=only, alone=only)
    return [view for level in levels(hw.workspace.definitions, chosen) for view in level]


def _all(hw: Headwater) -> tuple[str, ...]:
    return tuple(sorted(hw.workspace.definitions.views))
