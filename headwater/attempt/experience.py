"""What past refreshes teach about the next one's price."""

from __future__ import annotations

from collections.abc import Iterable

from headwater.plan.learnt import Experience, Sample
from headwater.store.attempt_record import AttemptRecord
from headwater.store.ledger import Ledger
from headwater.vocabulary.receipt import AttemptState
from headwater.vocabulary.technique import Technique

_WINDOW = 20
"""So many of a view's last refreshes count; a technique not tried in them gets a new chance."""

_OTHERS = 40


def last_measured(ledger: Ledger, view: str) -> AttemptRecord | None:
    """The view's newest refresh that was forecast, with what it then really took."""
    newest = ledger.attempts.list(view=view, state=AttemptState.SUCCEEDED, limit=_WINDOW)
    return next((attempt for attempt in newest if _sample(attempt) is not None), None)


def experience_of(ledger: Ledger, view: str, regret: float, concurrency: float = 1.0) -> Experience:
    """What this view's refreshes took, and all views'.

    A new chance may cost at most the share `regret` of what the window's refreshes took in all.
    """
    attempts = ledger.attempts.list(view=view, state=AttemptState.SUCCEEDED, limit=2 * _WINDOW)
    measured = [a for a in attempts if _sample(a) is not None]
    recent, older = measured[:_WINDOW], _samples(measured[_WINDOW:])
    own = _samples(recent)
    affordable = regret * sum(sample.seconds for sample in own)
    untried = {sample.technique for sample in older} - {sample.technique for sample in own}
    for technique in sorted(untried):
        known = tuple(sample for sample in older if sample.technique is technique)
        if _loss(recent[0], technique, known) > affordable:
            own += known
    others = ledger.attempts.list(state=AttemptState.SUCCEEDED, limit=_OTHERS)
    return Experience(own, _samples(others), concurrency)


def _samples(attempts: Iterable[AttemptRecord]) -> tuple[Sample, ...]:
    """Those that were forecast and took time, newest first."""
    return tuple(sample for sample in map(_sample, attempts) if sample is not None)


def _sample(attempt: AttemptRecord) -> Sample | None:
    technique = attempt.technique
    model = 0.0 if technique is None else attempt.forecast.get(technique.value, 0.0)
    if technique is None or model <= 0 or not attempt.seconds:
        return None
    return Sample(technique, model, attempt.seconds, attempt.concurrency)


def _loss(newest: AttemptRecord, technique: Technique, known: tuple[Sample, ...]) -> float:
    """What the newest refresh would have cost more by a technique as dear as it was."""
    model = newest.forecast.get(technique.value)
    if model is None:
        return 0.0
    same = Experience(known, known, newest.concurrency)
    return same.seconds(technique, model) - (newest.seconds or 0.0)
