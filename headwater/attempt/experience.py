"""What past refreshes teach about the next one's price."""

from __future__ import annotations

from collections.abc import Iterable

from headwater.plan.learnt import Experience, Sample
from headwater.store.attempt_record import AttemptRecord
from headwater.store.ledger import Ledger
from headwater.vocabulary.technique import Technique

_WINDOW = 20
"""So many of a view's last refreshes count; a technique not tried in them gets a new chance."""

_OTHERS = 40


def last_measured(ledger: Ledger, view: str) -> AttemptRecord | None:
    """The view's newest refresh that was forecast, with what it then really took."""
    newest = ledger.attempts.measured(view, limit=_WINDOW)
    return next((attempt for attempt in newest if _sample(attempt) is not None), None)


def experience_of(ledger: Ledger, view: str, regret: float, concurrency: float = 1.0) -> Experience:
    """What this view's refreshes took, and all views'.

    What was lost by choosing wrongly may be the share `regret` of what the window's refreshes took
    in all. A new chance that may cost more is not given, and once that much is lost nothing is
    tried that was not tried in the window.
    """
    attempts = ledger.attempts.measured(view, limit=2 * _WINDOW)
    measured = [a for a in attempts if _sample(a) is not None]
    recent, older = measured[:_WINDOW], _samples(measured[_WINDOW:])
    own = _samples(recent)
    affordable = regret * sum(sample.seconds for sample in own)
    everywhere = _samples(ledger.attempts.measured(limit=_OTHERS))
    known = Experience(own, everywhere, concurrency)
    is_spent = sum(_lost(attempt, known) for attempt in recent) > affordable
    untried = {sample.technique for sample in older} - {sample.technique for sample in own}
    for technique in sorted(untried):
        same = tuple(sample for sample in older if sample.technique is technique)
        if _loss(recent[0], technique, same) > affordable:
            own += same
    return Experience(own, everywhere, concurrency, is_spent)


def _samples(attempts: Iterable[AttemptRecord]) -> tuple[Sample, ...]:
    """Those that were forecast and took time, newest first."""
    return tuple(sample for sample in map(_sample, attempts) if sample is not None)


def _sample(attempt: AttemptRecord) -> Sample | None:
    """What a rebuild took that came after a failure is what choosing the other way cost."""
    failed = _failed(attempt)
    technique = failed or attempt.technique
    model = 0.0 if technique is None else attempt.forecast.get(technique.value, 0.0)
    if technique is None or model <= 0 or not attempt.seconds:
        return None
    return Sample(technique, model, attempt.seconds, attempt.concurrency, failed is not None)


def _failed(attempt: AttemptRecord) -> Technique | None:
    """The technique that was given up: of such a refresh only its own forecast is kept."""
    names = [*attempt.forecast]
    if attempt.technique is not Technique.REBUILD or len(names) != 1:
        return None
    named = Technique(names[0])
    return None if named is Technique.REBUILD else named


def _lost(attempt: AttemptRecord, known: Experience) -> float:
    """How much longer it took than the best of the other ways would have, by all that is known."""
    used = _sample(attempt)
    if used is None:
        return 0.0
    others = [
        known.seconds(Technique(name), model)
        for name, model in attempt.forecast.items()
        if name != used.technique.value and model > 0
    ]
    return max(0.0, used.seconds - min(others)) if others else 0.0


def _loss(newest: AttemptRecord, technique: Technique, known: tuple[Sample, ...]) -> float:
    """What the newest refresh would have cost more by a technique as dear as it was."""
    model = newest.forecast.get(technique.value)
    if model is None:
        return 0.0
    same = Experience(known, known, newest.concurrency)
    return same.seconds(technique, model) - (newest.seconds or 0.0)
