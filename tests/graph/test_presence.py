"""An interrupted refresh waits for every worker, also for one that it never heard of."""

from __future__ import annotations

import threading

import pytest

from headwater.graph.presence import Presence
from headwater.vocabulary.errors import RefreshCanceled


def test_those_inside_are_asked_until_they_have_left() -> None:
    presence, entered, asked = Presence(), threading.Event(), threading.Event()

    def work() -> None:
        with presence.at_work("orders"):
            entered.set()
            asked.wait(10)

    worker = threading.Thread(target=work)
    worker.start()
    entered.wait(10)
    presence.empty(asked.set)
    assert asked.is_set()
    worker.join(10)
    assert not worker.is_alive()


def test_nobody_begins_after_the_interruption() -> None:
    presence = Presence()
    presence.empty(lambda: pytest.fail("nobody is inside"))
    with pytest.raises(RefreshCanceled, match="orders was not begun"), presence.at_work("orders"):
        pytest.fail("it began")


def test_a_worker_that_fails_has_left() -> None:
    presence = Presence()
    with pytest.raises(ValueError, match="broken"), presence.at_work("orders"):
        raise ValueError("broken")
    presence.empty(lambda: pytest.fail("nobody is inside"))
