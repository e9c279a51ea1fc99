"""One ledger, many threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from headwater.store import Ledger, this_process
from headwater.testing.clock import FrozenClock
from headwater.testing.ledger import memory_ledger
from headwater.vocabulary.errors import RefreshRunning
from headwater.vocabulary.frontier import Frontier, SourceVersion

THREADS = 6
ROUNDS = 25


def at(version: int) -> Frontier:
    return Frontier.of({"orders": SourceVersion("id", version)})


def in_threads(work: Callable[[int], int]) -> list[int]:
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS)))


def advance_by_all(ledger: Ledger) -> None:
    ledger.views.create("v", path="/v", fingerprint="f", compiled="{}", frontier=at(0))

    def advance(_: int) -> int:
        won = 0
        for _ in range(ROUNDS):
            view = ledger.views.get("v")
            assert view is not None
            following = view.sequence + 1
            won += ledger.views.advance(
                "v",
                expected_sequence=view.sequence,
                frontier=at(following),
                sequence=following,
                table_version=following,
            )
        return won

    won = sum(in_threads(advance))
    view = ledger.views.get("v")
    assert view is not None
    assert view.sequence == won >= ROUNDS
    assert view.frontier == at(won)


def test_no_advance_is_lost_or_doubled(ledger: Ledger) -> None:
    """Every success of compare-and-set by any thread is one step of the view."""
    advance_by_all(ledger)


def test_a_memory_ledger_is_shared_by_threads() -> None:
    """The double for tests keeps the same promise as the real ones."""
    with memory_ledger() as ledger:
        advance_by_all(ledger)


def test_threads_claim_one_at_a_time(ledger: Ledger, clock: FrozenClock) -> None:
    """Of all threads that want a view, one is inside."""
    inside = threading.Lock()

    def work(number: int) -> int:
        held = 0
        for round_ in range(ROUNDS):
            attempt = f"{number}-{round_}"
            try:
                claim = ledger.claims.claim("v", attempt, this_process(), clock.now(), 60)
            except RefreshRunning:
                continue
            assert inside.acquire(blocking=False)
            held += 1
            inside.release()
            ledger.claims.release(claim)
        return held

    assert sum(in_threads(work)) > 0


def test_a_transaction_belongs_to_its_thread(ledger: Ledger) -> None:
    """What one thread has not committed, another neither sees nor joins."""
    with ThreadPoolExecutor(1) as other:
        with ledger.transaction():
            ledger.statements.put(1, "SELECT 1")
            assert other.submit(ledger.statements.list).result(timeout=30) == ()
        assert len(other.submit(ledger.statements.list).result(timeout=30)) == 1


def test_connections_of_finished_threads_are_let_go(sqlite_url: str, clock: FrozenClock) -> None:
    """A thread's connection goes with the thread, so that short threads do not pile them up."""
    with Ledger.open(sqlite_url, clock) as ledger:
        for _ in range(20):
            thread = threading.Thread(target=ledger.statements.list)
            thread.start()
            thread.join()
        assert len(ledger._database._seats) == 1  # type: ignore[attr-defined]
