"""One attempt to refresh a view, as its history row tells it."""

from __future__ import annotations

from headwater.vocabulary.lifecycle.machine import Machine
from headwater.vocabulary.receipt import AttemptState

ATTEMPT = Machine(
    "attempt",
    AttemptState.RUNNING,
    {
        (AttemptState.RUNNING, AttemptState.SUCCEEDED): "a: committed, or nothing to do",
        (AttemptState.RUNNING, AttemptState.FAILED): "b: an error",
        (AttemptState.RUNNING, AttemptState.CANCELED): "c: stopped on request",
        (AttemptState.RUNNING, AttemptState.ORPHANED): "d: silent for its limit",
    },
)
