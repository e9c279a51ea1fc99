"""Waking the loop."""

from __future__ import annotations

import threading
import time

from headwater.runner.notifier import Notifier


def test_wakes_that_come_together_are_one() -> None:
    """Coalescing: a thousand wakes end one wait, and the next one waits again."""
    notifier = Notifier()
    for _ in range(1000):
        notifier.wake("done")
    notifier.wake("definitions")
    assert notifier.wait(10) == {"done", "definitions"}
    assert notifier.wait(0) == frozenset()


def test_a_wake_before_the_wait_is_not_lost() -> None:
    """What was said before anybody waited ends the wait at once."""
    notifier = Notifier()
    notifier.wake()
    began = time.monotonic()
    assert notifier.wait(30) == {""}
    assert time.monotonic() - began < 1


def test_a_wait_ends_by_its_time() -> None:
    """Nobody wakes: the timer does, and no reason is given."""
    began = time.monotonic()
    assert Notifier().wait(0.05) == frozenset()
    assert time.monotonic() - began >= 0.04


def test_no_wake_up_is_lost_between_threads() -> None:
    """Whatever was counted before a wake is seen by the loop after its wait, every time."""
    notifier = Notifier()
    produced, seen = [0] * 4, 0

    def produce(slot: int) -> None:
        for _ in range(2000):
            produced[slot] += 1
            notifier.wake()

    threads = [threading.Thread(target=produce, args=(slot,)) for slot in range(4)]
    for thread in threads:
        thread.start()
    while seen < 8000:
        assert notifier.wait(10), "a wake-up was lost"
        seen = sum(produced)
    for thread in threads:
        thread.join()


def test_taking_does_not_wait() -> None:
    """A loop driven by a given clock asks instead of waiting."""
    notifier = Notifier()
    assert notifier.take() == frozenset()
    notifier.wake("membership")
    assert notifier.take() == {"membership"}
    assert notifier.take() == frozenset()
