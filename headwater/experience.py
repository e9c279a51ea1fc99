"""What past refreshes teach about the next one's price."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from headwater.plan.cost import Experience
from headwater.store.attempt_record import AttemptRecord
from headwater.store.ledger import Ledger
from headwater.vocabulary.receipt import AttemptState
from headwater.vocabulary.technique import Technique

_WINDOW = 20
"""So many of a view's last refreshes count; a technique not tried in them gets a new chance."""

_LEAST = 3
"""Fewer measurements say more about a cold start than about the technique."""

_OTHERS = 40
_REGRET = 0.10
"""A new chance may cost at most this share of what the window's refreshes took in all."""


def last_measured(ledger: Ledger, view: str) -> AttemptRecord | None:
    """The view's newest refresh that was forecast, with what it then really took."""
    newest = ledger.attempts.list(view=view, state=AttemptState.SUCCEEDED, limit=_WINDOW)
    return next(iter(_measured(newest)), None)


def experience_of(ledger: Ledger, view: str) -> Experience:
    """Measured over modelled seconds, of this view and of all views."""
    mine = _measured(
        ledger.attempts.list(view=view, state=AttemptState.SUCCEEDED, limit=2 * _WINDOW)
    )
    others = _measured(ledger.attempts.list(state=AttemptState.SUCCEEDED, limit=_OTHERS))
    general = median(_ratio(a) for a in others) if others else 1.0
    factors = {
        technique: median(ratios)
        for technique, ratios in _by_technique(mine[:_WINDOW]).items()
        if len(ratios) >= _LEAST
    }
    spent = sum(a.seconds or 0.0 for a in mine[:_WINDOW])
    for technique, ratios in _by_technique(mine[_WINDOW:]).items():
        untried = technique not in factors and len(ratios) >= _LEAST
        if untried and not _is_affordable(mine, technique, ratios, spent):
            factors[technique] = median(ratios)
    return Experience(factors, general)


def _measured(attempts: Iterable[AttemptRecord]) -> list[AttemptRecord]:
    """Those that were forecast and took time, newest first."""
    return [a for a in attempts if _modelled(a) > 0 and a.seconds]


def _by_technique(attempts: Iterable[AttemptRecord]) -> dict[Technique, list[float]]:
    found: dict[Technique, list[float]] = {}
    for attempt in attempts:
        if attempt.technique is not None:
            found.setdefault(attempt.technique, []).append(_ratio(attempt))
    return found


def _ratio(attempt: AttemptRecord) -> float:
    return (attempt.seconds or 0.0) / _modelled(attempt)


def _modelled(attempt: AttemptRecord) -> float:
    return attempt.forecast.get(attempt.technique.value, 0.0) if attempt.technique else 0.0


def _is_affordable(
    attempts: list[AttemptRecord], technique: Technique, ratios: list[float], spent: float
) -> bool:
    """Whether trying it again would be a small loss even if it is as dear as it was."""
    latest = next((a for a in attempts if technique.value in a.forecast), None)
    if latest is None:
        return True
    loss = latest.forecast[technique.value] * median(ratios) - (latest.seconds or 0.0)
    return loss <= _REGRET * spent
