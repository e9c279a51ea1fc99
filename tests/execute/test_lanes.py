"""Refreshes at the same time run in lanes of their own."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from headwater.execute.lanes import Lanes


def test_the_lowest_free_number_is_taken() -> None:
    """As many names as refreshes at the same time, however many there were in all."""
    lanes = Lanes()
    with ExitStack() as first, ExitStack() as second, ExitStack() as third:
        assert [s.enter_context(lanes.lane()) for s in (first, second, third)] == [1, 2, 3]
        second.close()
        first.close()
        with lanes.lane() as again, lanes.lane() as next_:
            assert (again, next_) == (1, 2)
            assert lanes.taken == 3
    assert lanes.taken == 0
    with lanes.lane() as number:
        assert number == 1


def test_a_lane_is_free_again_after_an_error() -> None:
    """A refresh that fails leaves its lane."""
    lanes = Lanes()
    with pytest.raises(OSError, match="away"), lanes.lane():
        raise OSError("away")
    assert lanes.taken == 0


def test_no_two_threads_share_a_lane() -> None:
    """Whoever is inside is alone in its lane, and there are no more lanes than threads."""
    lanes, inside, lock = Lanes(), set[int](), threading.Lock()
    used: set[int] = set()
    ready = threading.Barrier(4)

    def drive() -> None:
        ready.wait(30)
        for _ in range(2_000):
            with lanes.lane() as number:
                with lock:
                    assert number not in inside
                    inside.add(number)
                    used.add(number)
                with lock:
                    inside.remove(number)

    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(drive) for _ in range(4)]:
            future.result(60)
    assert lanes.taken == 0
    assert used <= {1, 2, 3, 4}
