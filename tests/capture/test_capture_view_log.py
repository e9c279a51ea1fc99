"""A view's own table tells what the view holds, and whether somebody else wrote to it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest

from headwater.capture.view_log import (
    committed_state,
    find_attempt,
    foreign_commits,
    overlapped,
)
from headwater.vocabulary.frontier import Frontier, SourceVersion
from headwater.vocabulary.stamp import Stamp
from headwater.vocabulary.technique import Technique

if TYPE_CHECKING:
    from conftest import WrittenLog


def stamp(sequence: int) -> str:
    """A stamp in which only what this file looks at has a meaning."""
    told: dict[str, Any] = {field.name: "" for field in fields(Stamp)}
    told |= {
        "attempt": f"attempt-{sequence}",
        "sequence": sequence,
        "frontier": Frontier.of({"orders": SourceVersion("t", sequence)}),
        "technique": Technique.MERGE,
        "base": sequence - 1,
        "sources": {},
        "places": {},
    }
    return Stamp(**told).to_json()


@pytest.fixture
def view(written: WrittenLog) -> WrittenLog:
    """A view built at version 1 and refreshed at version 2."""
    written.create()
    for sequence in (1, 2):
        written.append(f"f{sequence}", userMetadata=stamp(sequence))
    return written


def test_the_newest_stamp_is_the_views_state(view: WrittenLog) -> None:
    """Version, sequence, attempt and frontier come from the newest commit of ours."""
    view.commit(view.add("c", data_change=False), operation="OPTIMIZE")
    state = committed_state(view.log)
    assert state is not None
    assert (state.version, state.sequence, state.attempt) == (2, 2, "attempt-2")
    assert state.frontier["orders"].version == 2
    assert state.stamp.technique is Technique.MERGE


def test_an_older_version_has_an_older_state(view: WrittenLog) -> None:
    """State and transaction of a version are those at that version, whatever came after it."""
    state = committed_state(view.log, 1)
    assert state is not None
    assert (state.version, state.sequence) == (1, 1)
    view.commit({"txn": {"appId": "app", "version": 3}}, userMetadata=stamp(3))
    assert view.log.transaction_version("app") == 3
    assert view.log.transaction_version("app", 2) is None


def test_a_commit_over_another_refreshers_is_found(view: WrittenLog) -> None:
    """A stamped commit between another one and the version it started from is never normal."""
    state = committed_state(view.log)
    assert state is not None
    assert overlapped(view.log, state) == ()
    late = Stamp.from_json(stamp(3))
    assert late is not None
    view.append("f3", userMetadata=replace(late, base=1).to_json())
    state = committed_state(view.log)
    assert state is not None
    assert overlapped(view.log, state) == (2,)


@pytest.mark.parametrize("note", [None, "by hand", '{"headwater": 1}', '{"headwater": 2}', "[1]"])
def test_other_notes_are_not_ours(written: WrittenLog, note: str | None) -> None:
    """A commit without our stamp, or with half of one, is somebody else's."""
    written.create()
    written.append("f", userMetadata=note)
    assert committed_state(written.log) is None
    assert [c.version for c in foreign_commits(written.log, 0)] == [1]


def test_a_table_that_is_not_there_has_no_state(written: WrittenLog) -> None:
    """A view whose table was never made, or was dropped, has no state and no strangers."""
    assert committed_state(written.log) is None
    assert foreign_commits(written.log, -1) == ()
    assert find_attempt(written.log, "attempt-1", -1) is None


def test_foreign_writes_are_found(view: WrittenLog) -> None:
    """Rows or columns changed by somebody else are found; upkeep of the table is not."""

    def meta(columns: str) -> dict[str, Any]:
        return view.metadata(columns)

    view.commit(view.add("c", data_change=False), operation="OPTIMIZE")
    view.commit(meta("id:long,v:integer"), operation="SET TBLPROPERTIES")
    assert foreign_commits(view.log, 2) == ()
    written = view.append("by hand")
    dropped = view.commit(meta("id:long"), operation="DROP COLUMNS")
    view.append("f3", userMetadata=stamp(3))
    assert [c.version for c in foreign_commits(view.log, 2)] == [written, dropped]
    assert foreign_commits(view.log, dropped) == ()


def test_a_replaced_view_is_found(view: WrittenLog) -> None:
    """An empty CREATE OR REPLACE leaves no rows behind, but it is noticed."""
    view.table_id = "another"
    view.commit(view.metadata("id:long,v:integer"), operation="CREATE OR REPLACE TABLE")
    assert [c.version for c in foreign_commits(view.log, 2)] == [3]


def test_an_attempt_is_found_by_its_id(view: WrittenLog) -> None:
    """Whether an attempt landed is told by looking for its id after its base."""
    found = find_attempt(view.log, "attempt-2", 1)
    assert found is not None
    assert found.version == 2
    assert find_attempt(view.log, "attempt-1", 1) is None
    assert find_attempt(view.log, "attempt-9", -1) is None


def test_a_cleaned_up_log_still_has_its_newest_state(view: WrittenLog) -> None:
    """Old commits may go; the newest stamp is what counts."""
    view.file(0).unlink()
    view.file(1).unlink()
    state = committed_state(view.log)
    assert state is not None
    assert state.sequence == 2
    assert foreign_commits(view.log, 0) == ()
