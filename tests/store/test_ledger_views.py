"""Views: every write is compare-and-set and keeps to its own columns."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from headwater.store import Ledger, ViewRecord, ViewState
from headwater.testing.clock import FrozenClock
from headwater.vocabulary.frontier import Frontier, SourceVersion


def frontier(**versions: int) -> Frontier:
    return Frontier.of({name: SourceVersion(f"id-{name}", v) for name, v in versions.items()})


def create(ledger: Ledger, name: str = "v") -> ViewRecord:
    made = ledger.views.create(
        name,
        path=f"/warehouse/{name}",
        fingerprint="f1",
        compiled='{"tree": "ä"}',
        table_id="t1",
        frontier=frontier(orders=3),
        sequence=1,
        table_version=4,
    )
    assert made
    return row(ledger, name)


def row(ledger: Ledger, name: str = "v") -> ViewRecord:
    found = ledger.views.get(name)
    assert found is not None
    return found


def changed(before: ViewRecord, after: ViewRecord) -> set[str]:
    old, new = asdict(before), asdict(after)
    return {field for field, value in new.items() if value != old[field]}


def test_a_new_view_has_what_it_was_given(ledger: Ledger, clock: FrozenClock) -> None:
    """A created view is deferred and comes back field by field."""
    assert create(ledger) == ViewRecord(
        name="v",
        state=ViewState.DEFERRED,
        path="/warehouse/v",
        table_id="t1",
        fingerprint="f1",
        compiled='{"tree": "ä"}',
        frontier=frontier(orders=3),
        sequence=1,
        table_version=4,
        checked_version=None,
        created_at=clock.now(),
        updated_at=clock.now(),
    )
    assert ledger.views.get("V") is None


def test_a_taken_name_is_not_created_again(ledger: Ledger) -> None:
    """Creating a view twice tells so and changes nothing."""
    before = create(ledger)
    assert not ledger.views.create("v", path="/other", fingerprint="f2", compiled="{}")
    assert row(ledger) == before


def test_views_are_listed_by_name_and_removed(ledger: Ledger) -> None:
    """All views are listed; removing tells whether there was one."""
    for name in ("b", "a", "C"):
        create(ledger, name)
    assert [v.name for v in ledger.views.list()] == ["C", "a", "b"]
    assert ledger.views.remove("a")
    assert not ledger.views.remove("a")
    assert [v.name for v in ledger.views.list()] == ["C", "b"]


def test_the_state_moves_only_from_the_expected_one(ledger: Ledger) -> None:
    """S29's states: a change that expects another present state is refused."""
    create(ledger)
    assert ledger.views.set_state("v", ViewState.BUILDING, expected=ViewState.DEFERRED)
    assert not ledger.views.set_state("v", ViewState.BUILDING, expected=ViewState.DEFERRED)
    assert ledger.views.set_state("v", ViewState.READY)
    assert row(ledger).state.is_readable
    assert not ledger.views.set_state("nobody", ViewState.READY)


def test_advance_needs_the_expected_sequence(ledger: Ledger) -> None:
    """Of two publishers of one step the second changes nothing and is told so."""
    create(ledger)
    step: dict[str, Any] = {"frontier": frontier(orders=5), "sequence": 2, "table_version": 6}
    assert ledger.views.advance("v", expected_sequence=1, **step)
    after = row(ledger)
    late: dict[str, Any] = {"frontier": frontier(orders=4), "sequence": 2, "table_version": 5}
    assert not ledger.views.advance("v", expected_sequence=1, **late)
    assert row(ledger) == after
    assert (after.frontier, after.sequence, after.table_version) == (frontier(orders=5), 2, 6)


def test_the_frontier_moves_only_from_the_expected_one(ledger: Ledger) -> None:
    """A skip that started from an older frontier than the present one changes nothing."""
    create(ledger)
    old, new = frontier(orders=3), frontier(orders=8)
    assert ledger.views.move_frontier("v", expected=old, frontier=new)
    assert not ledger.views.move_frontier("v", expected=old, frontier=frontier(orders=4))
    assert row(ledger).frontier == new


def test_a_frontier_compares_by_table_id_too(ledger: Ledger) -> None:
    """The same version number of a recreated table is another frontier."""
    create(ledger)
    recreated = Frontier.of({"orders": SourceVersion("id-other", 3)})
    assert not ledger.views.move_frontier("v", expected=recreated, frontier=frontier(orders=4))


def test_the_checked_version_only_grows(ledger: Ledger) -> None:
    """What was looked through stays looked through, for the sequence it was looked at."""
    create(ledger)
    assert ledger.views.mark_checked("v", expected_sequence=1, checked_version=7)
    assert not ledger.views.mark_checked("v", expected_sequence=1, checked_version=6)
    assert not ledger.views.mark_checked("v", expected_sequence=2, checked_version=9)
    assert row(ledger).known_version == 7


@pytest.mark.parametrize(
    ("write", "columns"),
    [
        ("set_state", {"state"}),
        ("redefine", {"fingerprint", "compiled"}),
        ("relocate", {"path", "table_id", "checked_version"}),
        ("advance", {"frontier", "sequence", "table_version"}),
        ("move_frontier", {"frontier"}),
        ("mark_checked", {"checked_version"}),
    ],
)
def test_a_write_touches_only_its_own_columns(
    ledger: Ledger, clock: FrozenClock, write: str, columns: set[str]
) -> None:
    """No status write resets a field it does not own."""
    create(ledger)
    create(ledger, "bystander")
    ledger.views.mark_checked("v", expected_sequence=1, checked_version=5)
    before, bystander = row(ledger), row(ledger, "bystander")
    clock.advance(10)
    moves = {"frontier": frontier(orders=9), "sequence": 2, "table_version": 9}
    arguments: dict[str, dict[str, Any]] = {
        "set_state": {"state": ViewState.READY},
        "redefine": {"fingerprint": "f2", "compiled": "{}"},
        "relocate": {"path": "/elsewhere", "table_id": "t2"},
        "advance": {"expected_sequence": 1, **moves},
        "move_frontier": {"expected": before.frontier, "frontier": frontier(orders=9)},
        "mark_checked": {"expected_sequence": 1, "checked_version": 6},
    }
    assert getattr(ledger.views, write)("v", **arguments[write])
    assert changed(before, row(ledger)) - {"updated_at"} == columns
    assert row(ledger, "bystander") == bystander


def test_a_transaction_is_all_or_nothing(ledger: Ledger) -> None:
    """An error inside a transaction undoes every change made in it, nested ones included."""
    create(ledger)

    def half_done() -> None:
        with ledger.transaction():
            ledger.views.set_state("v", ViewState.READY)
            with ledger.transaction():
                ledger.statements.put(1, "SELECT 1")
            raise InterruptedError

    with pytest.raises(InterruptedError):
        half_done()
    assert row(ledger).state is ViewState.DEFERRED
    assert ledger.statements.list() == ()
    with ledger.transaction():
        ledger.views.set_state("v", ViewState.READY)
        ledger.statements.put(1, "SELECT 1")
    assert row(ledger).state is ViewState.READY
    assert len(ledger.statements.list()) == 1
