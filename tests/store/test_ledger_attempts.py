"""History: one row per attempt, closed once, trimmed by age and number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from headwater.store import AttemptRecord, Ledger
from headwater.testing.clock import FrozenClock
from headwater.vocabulary.errors import CommitFailed, UnknownName, WrongUse
from headwater.vocabulary.frontier import Frontier, SourceVersion
from headwater.vocabulary.profile import StepCost, Work
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.receipt import AttemptState, Receipt
from headwater.vocabulary.technique import Technique

BEFORE = Frontier.of({"orders": SourceVersion("id-1", 3)})
AFTER = Frontier.of({"orders": SourceVersion("id-1", 5), "people": SourceVersion("id-2", 0)})


def receipt_for(attempt: str, started_at: datetime, **other: Any) -> Receipt:
    plain = Receipt(
        attempt=attempt,
        view="v",
        technique=Technique.MERGE,
        frontier=AFTER,
        frontier_before=BEFORE,
        sequence=2,
        table_version=11,
        rows_inserted=10,
        rows_deleted=3,
        started_at=started_at,
        seconds=1.2345678901,
        reasons=(Reason("CHEAPEST", "add 10 rows: ä"),),
        profile=(
            StepCost("capture", 0.123456789, 10),
            StepCost(
                "commit", 1.0, None, Work(), (StepCost("files", 0.5, 2, Work(1, 2, 3, 4, 5, 6)),)
            ),
        ),
    )
    return replace(plain, **other)


def start(ledger: Ledger, attempt: str, started_at: datetime, view: str = "v") -> None:
    assert ledger.attempts.start(
        attempt, view, f"view:{view}", manual=False, started_at=started_at, frontier_before=BEFORE
    )


def read(ledger: Ledger, attempt: str) -> AttemptRecord:
    found = ledger.attempts.get(attempt)
    assert found is not None
    return found


def test_a_running_attempt_is_in_the_history(ledger: Ledger, clock: FrozenClock) -> None:
    """A row is there from the start, with what is known then."""
    assert ledger.attempts.start(
        "a1",
        "v",
        "view:v",
        manual=True,
        started_at=clock.now(),
        frontier_before=BEFORE,
        delay_seconds=2.5,
    )
    found = read(ledger, "a1")
    assert (found.state, found.manual, found.job) == (AttemptState.RUNNING, True, "view:v")
    assert (found.frontier_before, found.delay_seconds) == (BEFORE, 2.5)
    assert found.heartbeat_at == found.started_at == clock.now()
    assert (found.ended_at, found.technique, found.receipt, found.error) == (None,) * 4
    assert ledger.attempts.get("nobody") is None


def test_an_id_is_used_once(ledger: Ledger, clock: FrozenClock) -> None:
    """A second start or record under the same id changes nothing."""
    start(ledger, "a1", clock.now())
    before = read(ledger, "a1")
    assert not ledger.attempts.start(
        "a1", "w", "j", manual=True, started_at=clock.now(), frontier_before=AFTER
    )
    assert not ledger.attempts.record(receipt_for("a1", clock.now()), manual=True)
    assert read(ledger, "a1") == before


def test_a_receipt_comes_back_as_it_was(ledger: Ledger, clock: FrozenClock) -> None:
    """The receipt of a finished attempt is kept whole, to the last digit."""
    start(ledger, "a1", clock.now())
    receipt = receipt_for("a1", clock.now())
    ended_at = clock.advance(2)
    assert ledger.attempts.finish("a1", AttemptState.SUCCEEDED, receipt=receipt, ended_at=ended_at)
    found = read(ledger, "a1")
    assert found.receipt == receipt
    assert (found.state, found.ended_at) == (AttemptState.SUCCEEDED, ended_at)


def test_a_finished_attempt_is_recorded_in_one_go(ledger: Ledger, clock: FrozenClock) -> None:
    """A refresh with nothing to do is one row, closed, with its receipt."""
    receipt = receipt_for(
        "a1", clock.now(), technique=Technique.SKIP, table_version=None, reasons=(), profile=()
    )
    assert ledger.attempts.record(receipt, manual=True)
    found = read(ledger, "a1")
    assert found.receipt == receipt
    assert (found.state, found.manual, found.job) == (AttemptState.SUCCEEDED, True, "v")
    assert found.ended_at == clock.now() + timedelta(seconds=receipt.seconds)


def test_a_failure_keeps_its_error_and_technique(ledger: Ledger, clock: FrozenClock) -> None:
    """A failed attempt has no receipt, but tells the technique it tried and the coded error."""
    start(ledger, "a1", clock.now())
    assert ledger.attempts.set_technique("a1", Technique.DELTA)
    error = CommitFailed("disk full", where="/warehouse/v").to_json()
    assert ledger.attempts.finish("a1", AttemptState.FAILED, error=error, ended_at=clock.now())
    found = read(ledger, "a1")
    assert (found.state, found.technique, found.receipt) == (
        AttemptState.FAILED,
        Technique.DELTA,
        None,
    )
    assert found.error == error


@pytest.mark.parametrize("state", [s for s in AttemptState if s.is_terminal])
def test_an_attempt_is_closed_once(ledger: Ledger, clock: FrozenClock, state: AttemptState) -> None:
    """S10: a late result changes nothing, whatever the attempt was closed as."""
    start(ledger, "a1", clock.now())
    assert ledger.attempts.finish("a1", state, ended_at=clock.now())
    closed = read(ledger, "a1")
    receipt = receipt_for("a1", clock.now())
    late = clock.advance(9)
    assert not ledger.attempts.finish("a1", AttemptState.SUCCEEDED, receipt=receipt, ended_at=late)
    assert not ledger.attempts.heartbeat("a1", late)
    assert not ledger.attempts.set_technique("a1", Technique.MERGE)
    assert not ledger.attempts.request_cancel("a1", "somebody", late)
    assert read(ledger, "a1") == closed


def test_an_attempt_cannot_finish_as_running(ledger: Ledger, clock: FrozenClock) -> None:
    """Running is no way to end."""
    start(ledger, "a1", clock.now())
    with pytest.raises(WrongUse):
        ledger.attempts.finish("a1", AttemptState.RUNNING, ended_at=clock.now())


def test_a_silent_attempt_is_orphaned(ledger: Ledger, clock: FrozenClock) -> None:
    """S17: who did not beat for the limit is orphaned; who did goes on."""
    start(ledger, "silent", clock.now())
    start(ledger, "alive", clock.now())
    clock.advance(20)
    assert ledger.attempts.heartbeat("alive", clock.now())
    clock.advance(9.999)
    assert ledger.attempts.orphan_silent(clock.now(), 30) == ()
    clock.advance(0.001)
    assert ledger.attempts.orphan_silent(clock.now(), 30) == ("silent",)
    assert ledger.attempts.orphan_silent(clock.now(), 30) == ()
    assert read(ledger, "silent").state is AttemptState.ORPHANED
    assert read(ledger, "silent").ended_at == clock.now()
    assert read(ledger, "alive").state is AttemptState.RUNNING


def test_cancel_is_a_flag_that_the_first_asker_sets(ledger: Ledger, clock: FrozenClock) -> None:
    """S16: a cancel request marks a running attempt once and leaves the rest of the row alone."""
    start(ledger, "a1", clock.now())
    before = read(ledger, "a1")
    assert not ledger.attempts.cancel_requested("a1")
    first = clock.advance(1)
    assert ledger.attempts.request_cancel("a1", "ann", first)
    assert ledger.attempts.request_cancel("a1", "bob", clock.advance(1))
    assert ledger.attempts.cancel_requested("a1")
    assert read(ledger, "a1") == replace(
        before, cancel_requested_by="ann", cancel_requested_at=first
    )
    assert not ledger.attempts.request_cancel("nobody", "ann", first)


def test_history_is_listed_newest_first_in_pages(ledger: Ledger, clock: FrozenClock) -> None:
    """Pages continue where the last one ended, also among attempts of the same instant."""
    for number in range(10):
        start(ledger, f"a{number}", clock.now(), view="v" if number % 2 else "w")
        clock.advance(number % 3)
    whole = [a.id for a in ledger.attempts.list()]
    assert sorted(whole, key=lambda i: (read(ledger, i).started_at, i), reverse=True) == whole
    pages: list[str] = []
    while page := ledger.attempts.list(limit=3, before=pages[-1] if pages else None):
        pages += [a.id for a in page]
    assert pages == whole
    with pytest.raises(UnknownName, match="nobody"):
        ledger.attempts.list(before="nobody")


def test_history_is_listed_by_view_and_state(ledger: Ledger, clock: FrozenClock) -> None:
    """Each filter, and both together, give just their rows."""
    for number in range(8):
        start(ledger, f"a{number}", clock.advance(1), view="v" if number % 2 else "w")
    for number in (1, 2, 3):
        ledger.attempts.finish(f"a{number}", AttemptState.FAILED, ended_at=clock.now())

    def ids(**filters: Any) -> str:
        return " ".join(a.id for a in ledger.attempts.list(**filters))

    assert ids(view="v") == "a7 a5 a3 a1"
    assert ids(state=AttemptState.FAILED) == "a3 a2 a1"
    assert ids(view="v", state=AttemptState.FAILED) == "a3 a1"
    assert ids(view="v", state=AttemptState.FAILED, before="a3") == "a1"
    assert ids(view="v", limit=2) == "a7 a5"


def test_time_zones_do_not_disturb_the_order(ledger: Ledger, clock: FrozenClock) -> None:
    """Moments given in other zones are kept as UTC and sort by when they were."""
    east, west = timezone(timedelta(hours=9)), timezone(timedelta(hours=-8))
    noon = clock.now()
    start(ledger, "late", (noon + timedelta(minutes=2)).astimezone(west))
    start(ledger, "early", (noon + timedelta(minutes=1)).astimezone(east))
    assert [a.id for a in ledger.attempts.list()] == ["late", "early"]
    assert read(ledger, "late").started_at == noon + timedelta(minutes=2)
    with pytest.raises(ValueError, match="time zone"):
        start(ledger, "naive", datetime(2030, 1, 1))  # noqa: DTZ001  (the point)


def fill(ledger: Ledger, clock: FrozenClock, hours: int) -> Callable[[], list[str]]:
    """One finished attempt per hour, and one that has been running since before them all."""
    start(ledger, "running", clock.now())
    for hour in range(hours):
        clock.advance(3600)
        ledger.attempts.record(receipt_for(f"h{hour:03}", clock.now(), seconds=0.0), manual=False)
    return lambda: [a.id for a in ledger.attempts.list(limit=1000)]


def test_history_is_trimmed_by_age(ledger: Ledger, clock: FrozenClock) -> None:
    """S18: what ended more than seven days ago goes; the running one stays, however old."""
    left = fill(ledger, clock, hours=24 * 8)
    assert ledger.attempts.trim(clock.now()) == 24 - 1
    assert left()[-2:] == ["h023", "running"]
    assert ledger.attempts.trim(clock.now()) == 0


def test_history_is_trimmed_by_number(ledger: Ledger, clock: FrozenClock) -> None:
    """S18: beyond the number kept the oldest go first; the running one stays."""
    left = fill(ledger, clock, hours=10)
    assert ledger.attempts.trim(clock.now(), keep_rows=4) == 7
    assert left() == ["h009", "h008", "h007", "running"]
    assert ledger.attempts.trim(clock.now(), keep_rows=0) == 3
    assert left() == ["running"]


def test_a_long_attempt_that_just_ended_is_kept(ledger: Ledger, clock: FrozenClock) -> None:
    """Age counts from the end, not from the start."""
    start(ledger, "long", clock.now())
    clock.advance(86_400 * 9)
    ledger.attempts.finish("long", AttemptState.FAILED, ended_at=clock.now())
    assert ledger.attempts.trim(clock.now()) == 0


def test_trimming_goes_on_over_many_batches(
    ledger: Ledger, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trimming in small transactions drops as much as one big one would."""
    monkeypatch.setattr("headwater.store.attempts._TRIM_BATCH", 7)
    left = fill(ledger, clock, hours=24 * 8)
    assert ledger.attempts.trim(clock.now(), keep_rows=20) == 24 * 8 + 1 - 20
    assert len(left()) == 20


def test_a_row_can_be_shown_as_json(ledger: Ledger, clock: FrozenClock) -> None:
    """What the command line prints has every field in plain types."""
    start(ledger, "a1", clock.now())
    ledger.attempts.request_cancel("a1", "ann", clock.now())
    receipt = receipt_for("a1", clock.now())
    ledger.attempts.finish("a1", AttemptState.SUCCEEDED, receipt=receipt, ended_at=clock.now())
    shown = read(ledger, "a1").to_json()
    assert shown["frontier"] == AFTER.to_json()
    assert shown["state"] == "succeeded"
    assert shown["cancel_requested_by"] == "ann"
    assert shown["profile"][0] == {
        "step": "capture",
        "seconds": 0.123456789,
        "rows": 10,
        "work": None,
        "parts": [],
    }
    assert shown["profile"][1]["parts"][0]["work"]["bytes_written"] == 5
