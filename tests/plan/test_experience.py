"""What past refreshes teach about the price of the next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headwater.experience import experience_of
from headwater.store import Ledger
from headwater.testing.ledger import memory_ledger
from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.technique import Technique

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def ledger() -> Ledger:
    return memory_ledger()


def refreshed(ledger: Ledger, number: int, technique: Technique, ratio: float) -> None:
    """A refresh that took `ratio` times what the model said: 1 s."""
    receipt = Receipt(
        attempt=f"a{number}",
        view="v",
        technique=technique,
        frontier=Frontier.of({}),
        frontier_before=Frontier.of({}),
        sequence=number,
        table_version=number,
        rows_inserted=1,
        rows_deleted=0,
        started_at=START + timedelta(minutes=number),
        seconds=ratio,
        forecast={"merge": 1.0, "rebuild": 1.0},
    )
    assert ledger.attempts.record(receipt, manual=True)


def test_nothing_known(ledger: Ledger) -> None:
    """Without history the model stands as it is."""
    assert experience_of(ledger, "v").factor(Technique.MERGE) == 1.0


def test_one_cold_refresh_teaches_little(ledger: Ledger) -> None:
    """A single slow refresh makes everything dearer, not the technique it happened to use."""
    refreshed(ledger, 1, Technique.MERGE, 20.0)
    learnt = experience_of(ledger, "v")
    assert learnt.factor(Technique.MERGE) == learnt.factor(Technique.REBUILD) == 20.0


def test_what_is_dearer_than_the_model_says_is_learnt(ledger: Ledger) -> None:
    """Three refreshes suffice to know that a technique is dearer here than the model says."""
    for number in range(3):
        refreshed(ledger, number, Technique.MERGE, 4.0)
    for number in range(3, 9):
        refreshed(ledger, number, Technique.REBUILD, 1.0)
    learnt = experience_of(ledger, "v")
    assert learnt.factor(Technique.MERGE) == 4.0
    assert learnt.factor(Technique.REBUILD) == 1.0


@pytest.mark.parametrize(("dear", "again"), [(2.5, True), (40.0, False)])
def test_a_new_chance_must_be_affordable(ledger: Ledger, dear: float, again: bool) -> None:
    """What was not tried in the window is tried again only if it may cost a tenth of it at most."""
    for number in range(3):
        refreshed(ledger, number, Technique.MERGE, dear)
    for number in range(3, 33):
        refreshed(ledger, number, Technique.REBUILD, 1.0)
    forgotten = experience_of(ledger, "v").factor(Technique.MERGE) == 1.0
    assert forgotten is again
