"""Starts are held back while the machine is busy."""

from __future__ import annotations

import threading
import time

import pytest

from headwater.runner.backpressure import Backpressure, Load, MachineLoad
from headwater.testing.clock import START, FrozenClock
from headwater.vocabulary.clock import SystemClock


def waited(loads: list[Load], **settings: float) -> float:
    """Seconds by the given clock until a start may go ahead; the last load stays."""
    clock = FrozenClock()

    def load() -> Load:
        return loads.pop(0) if len(loads) > 1 else loads[0]

    Backpressure(clock, load, **settings).admit(lambda: False)
    return (clock.now() - START).total_seconds()


BUSY, CALM = Load(0.9, 0.1), Load(0.1, 0.1)


def test_a_start_is_delayed_in_steps() -> None:
    """S13: every look at a busy machine costs 100 ms; memory counts like CPU."""
    assert waited([CALM]) == 0
    assert waited([BUSY, BUSY, BUSY, CALM]) == pytest.approx(0.3)
    assert waited([Load(0.1, 0.8), CALM]) == pytest.approx(0.1)
    assert waited([Load(0.799, 0.799)]) == 0


def test_zero_disables_it() -> None:
    """S13: with a threshold of 0 nothing is ever held back, nor even looked at."""
    assert waited([Load(1.0, 1.0)], threshold=0) == 0


def test_a_machine_that_is_always_busy_starts_late_but_starts() -> None:
    """A load of others must not keep a view from ever being refreshed."""
    assert waited([BUSY]) == pytest.approx(60)
    assert waited([BUSY], longest_seconds=5) == pytest.approx(5)


def test_whoever_gives_up_is_let_go() -> None:
    """S13: closing ends the wait at the next step."""
    clock = FrozenClock()
    gate = Backpressure(clock, lambda: BUSY)
    gate.admit(lambda: clock.now() > START)
    assert (clock.now() - START).total_seconds() == pytest.approx(0.1)


def test_the_machine_is_really_read() -> None:
    """A thread that computes shows up as CPU in use, whichever thread looks."""
    load = MachineLoad(SystemClock())
    until = time.monotonic() + 0.4
    while time.monotonic() < until:
        sum(range(1000))
    seen: list[Load] = []
    looking = threading.Thread(target=lambda: seen.append(load()))
    looking.start()
    looking.join()
    (found,) = seen
    assert 0.02 < found.cpu <= 1
    assert 0 < found.memory < 1
