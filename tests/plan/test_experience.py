"""What past refreshes teach about the price of the next."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from headwater.attempt.experience import experience_of, last_measured
from headwater.store import Ledger
from headwater.testing.ledger import memory_ledger
from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.technique import Technique

REGRET = 0.1
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def ledger() -> Ledger:
    return memory_ledger()


def refreshed(
    ledger: Ledger,
    number: int,
    technique: Technique,
    ratio: float,
    model: float = 1.0,
    view: str = "v",
    concurrency: float = 1.0,
    forecast: Mapping[str, float] | None = None,
) -> None:
    """A refresh that took `ratio` times what the model said."""
    receipt = Receipt(
        attempt=f"a{number}",
        view=view,
        technique=technique,
        frontier=Frontier.of({}),
        frontier_before=Frontier.of({}),
        sequence=number,
        table_version=number,
        rows_inserted=1,
        rows_deleted=0,
        started_at=START + timedelta(minutes=number),
        seconds=ratio * model,
        forecast={"merge": model, "rebuild": model} if forecast is None else forecast,
        concurrency=concurrency,
    )
    assert ledger.attempts.record(receipt, manual=True)


def factor(ledger: Ledger, technique: Technique, model: float = 1.0) -> float:
    return experience_of(ledger, "v", REGRET).seconds(technique, model) / model


def test_nothing_known(ledger: Ledger) -> None:
    """Without history the model stands as it is."""
    assert factor(ledger, Technique.MERGE) == 1.0


def test_one_cold_refresh_teaches_little(ledger: Ledger) -> None:
    """A single slow refresh makes everything dearer, not the technique it happened to use."""
    refreshed(ledger, 1, Technique.MERGE, 20.0)
    assert factor(ledger, Technique.MERGE) == pytest.approx(20.0)
    assert factor(ledger, Technique.REBUILD) == pytest.approx(20.0)


def test_what_is_dearer_than_the_model_says_is_learnt(ledger: Ledger) -> None:
    """Some refreshes suffice to know that a technique is dearer here than the model says."""
    for number in range(4):
        refreshed(ledger, number, Technique.MERGE, 4.0)
    for number in range(4, 12):
        refreshed(ledger, number, Technique.REBUILD, 1.0)
    assert 3.0 < factor(ledger, Technique.MERGE) <= 4.0
    assert factor(ledger, Technique.REBUILD) == pytest.approx(1.0)


def test_other_views_teach_until_the_view_has_its_own(ledger: Ledger) -> None:
    """A technique that is dear everywhere is expected to be dear here; what is seen here wins."""
    for number in range(6):
        refreshed(ledger, number, Technique.MERGE, 8.0, view="w")
    for number in range(6, 18):
        refreshed(ledger, number, Technique.REBUILD, 1.0, view="w")
    everywhere = factor(ledger, Technique.MERGE)
    assert 4.0 < everywhere <= 8.0
    for number in range(18, 23):
        refreshed(ledger, number, Technique.MERGE, 1.0)
    assert factor(ledger, Technique.MERGE) < everywhere / 2


def test_small_and_large_changes_are_learnt_apart(ledger: Ledger) -> None:
    """What refreshes cost at least says little of what many rows cost, and the other way round."""
    for number in range(6):
        refreshed(ledger, number, Technique.MERGE, 5.0, model=0.2)
    for number in range(6, 12):
        refreshed(ledger, number, Technique.MERGE, 1.0, model=20.0)
    assert factor(ledger, Technique.MERGE, 0.25) == pytest.approx(5.0)
    assert factor(ledger, Technique.MERGE, 15.0) == pytest.approx(1.0)


def test_what_was_alone_tells_little_of_a_crowd(ledger: Ledger) -> None:
    """First builds ran one by one; a rebuild beside three others is as slow as what runs now."""
    for number in range(8):
        refreshed(ledger, number, Technique.REBUILD, 1.0)
    for number in range(8, 16):
        refreshed(ledger, number, Technique.MERGE, 6.0, concurrency=4.0)
    crowded = experience_of(ledger, "v", REGRET, concurrency=4.0)
    assert crowded.seconds(Technique.MERGE, 1.0) == pytest.approx(6.0)
    assert crowded.seconds(Technique.REBUILD, 1.0) > 5.0
    assert factor(ledger, Technique.REBUILD) == pytest.approx(1.0)


@pytest.mark.parametrize(("dear", "again"), [(2.5, True), (40.0, False)])
def test_a_new_chance_must_be_affordable(ledger: Ledger, dear: float, again: bool) -> None:
    """What was not tried in the window is tried again only if it may cost a tenth of it at most."""
    for number in range(5):
        refreshed(ledger, number, Technique.MERGE, dear)
    for number in range(5, 50):
        refreshed(ledger, number, Technique.REBUILD, 1.0, view="w" if number < 30 else "v")
    forgotten = factor(ledger, Technique.MERGE) == pytest.approx(1.0)
    assert forgotten is again


def test_having_nothing_to_do_forgets_nothing(ledger: Ledger) -> None:
    """Refreshes that skipped say nothing of what a refresh takes, however many there are."""
    for number in range(8):
        refreshed(ledger, number, Technique.MERGE, 4.0)
    known = factor(ledger, Technique.MERGE)
    for number in range(8, 100):
        refreshed(ledger, number, Technique.SKIP, 0.01, forecast={})
    assert factor(ledger, Technique.MERGE) == pytest.approx(known)
    newest = last_measured(ledger, "v")
    assert newest is not None
    assert newest.id == "a7"


def test_a_failure_is_learnt_at_once(ledger: Ledger) -> None:
    """What a rebuild took that came after it counts against the technique that was given up."""
    for number in range(5):
        refreshed(ledger, number, Technique.REBUILD, 1.0)
    refreshed(ledger, 5, Technique.REBUILD, 50.0, forecast={"merge": 1.0})
    assert factor(ledger, Technique.MERGE) > 10.0
    assert factor(ledger, Technique.REBUILD) == pytest.approx(1.0)


@pytest.mark.parametrize(("ratio", "spent"), [(1.05, False), (3.0, True)])
def test_nothing_new_is_tried_once_too_much_was_lost(
    ledger: Ledger, ratio: float, spent: bool
) -> None:
    """A tenth of what the window's refreshes took may be lost by choosing wrongly."""
    for number in range(10):
        refreshed(ledger, number, Technique.REBUILD, 1.0)
    for number in range(10, 13):
        refreshed(ledger, number, Technique.MERGE, ratio)
    experience = experience_of(ledger, "v", REGRET)
    assert experience.is_spent is spent
    assert experience.may_try(Technique.REKEY) is not spent
    assert experience.may_try(Technique.MERGE)
    assert experience.may_try(Technique.REBUILD)
