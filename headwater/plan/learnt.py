"""What a plan takes here: the model's price, corrected by what was measured.

Measured seconds over the model's are a factor. It is looked for from the widest to the narrowest:
in all refreshes of this deployment, in those by the same technique, in the view's own by it. Each
pulls what the wider one says towards itself, the more so the more it has seen of about this size: a
small change tells what a refresh costs at least, a large one what a row costs. What was measured in
a crowd of refreshes is for a crowd: a first build that had the machine to itself would make every
rebuild look cheap.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headwater.vocabulary.technique import Technique

_HALF = math.log(4)
"""A refresh whose model's price was four times more, or less, counts half."""

_CROWD = math.log(2)
"""One that ran beside twice as many others, or half, counts half."""

_FADES = 0.95
"""What a refresh counts for, compared with the one after it: machines and tables change."""

_COLD = 2.0
"""So many refreshes say more about a cold start than about a technique or a view."""

_FAILURE = 4.0
"""A technique that had to be given up says as much as so many that were only slow."""


@dataclass(frozen=True)
class Sample:
    """One refresh: what the model said of the technique it used, and what it took."""

    technique: Technique
    model: float
    seconds: float
    concurrency: float = 1.0
    failed: bool = False  # it was given up, and a rebuild came after it

    @property
    def log_factor(self) -> float:
        return math.log(self.seconds / self.model)


@dataclass(frozen=True)
class Experience:
    """What was measured lately, of the view itself and of all views; the newest is the first."""

    own: tuple[Sample, ...] = ()
    all: tuple[Sample, ...] = ()
    concurrency: float = 1.0  # refreshes that will be under way at the same time
    is_spent: bool = False  # as much was lost by choosing wrongly as may be lost

    def may_try(self, technique: Technique) -> bool:
        """Nothing new is tried while too much has been lost; a first build was a rebuild."""
        tried = technique is Technique.REBUILD or any(s.technique is technique for s in self.own)
        return tried or not self.is_spent

    def seconds(self, technique: Technique, model: float) -> float:
        """What the technique is expected to take where the model says so much."""
        known = self.all or self.own
        if not known or not math.isfinite(model):
            return model
        middle, _ = self._middle(known, model)
        for samples in (self.all, self.own):
            middle = self._pulled(middle, [s for s in samples if s.technique is technique], model)
        return model * math.exp(middle)

    def _pulled(self, wider: float, samples: Sequence[Sample], model: float) -> float:
        if not samples:
            return wider
        middle, weight = self._middle(samples, model)
        trust = max(0.0, weight - _COLD)
        return (wider + trust * middle) / (1 + trust)

    def _middle(self, samples: Iterable[Sample], model: float) -> tuple[float, float]:
        """The weighted median of the factors' logarithms, and the weight of them all."""
        weighed = sorted(
            (s.log_factor, self._likeness(s, model) * _FADES**age) for age, s in enumerate(samples)
        )
        total = sum(weight for _, weight in weighed)
        passed = 0.0
        for factor, weight in weighed:
            passed += weight
            if passed >= total / 2:
                return factor, total
        raise ValueError("a median of nothing")

    def _likeness(self, sample: Sample, model: float) -> float:
        """How much a refresh tells of one that has this price, and runs beside as many others."""
        size = math.log(sample.model / model) / _HALF
        crowd = math.log(sample.concurrency / self.concurrency) / _CROWD
        weight = _FAILURE if sample.failed else 1.0
        return weight / (1 + size * size) / (1 + crowd * crowd)
