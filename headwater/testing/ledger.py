"""A ledger that lives in memory."""

from __future__ import annotations

from headwater.store import Ledger
from headwater.testing.clock import FrozenClock
from headwater.vocabulary.clock import Clock


def memory_ledger(clock: Clock | None = None) -> Ledger:
    """The real ledger on SQLite in memory; it is gone when it is closed."""
    return Ledger.open("sqlite://", clock or FrozenClock())
