"""The ledger follows the view's own log, and what is known of a view is of one version."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from headwater.capture.log import TableLog, open_log
from headwater.publish.publisher import refuse_if_tampered, settle
from headwater.store import Ledger
from headwater.store.views import ViewRecord, ViewState
from headwater.testing.clock import FrozenClock
from headwater.vocabulary.errors import ViewTampered
from headwater.vocabulary.frontier import Frontier, SourceVersion
from headwater.vocabulary.stamp import Stamp
from headwater.vocabulary.technique import Technique

PROTOCOL = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
METADATA = {
    "metaData": {
        "id": "table",
        "schemaString": json.dumps({"type": "struct", "fields": []}),
        "partitionColumns": [],
        "configuration": {},
    }
}


def stamp(sequence: int, base: int | None = None, definition: str = "one") -> Stamp:
    frontier = Frontier.of({"t": SourceVersion("t", 10 * sequence)})
    before = sequence - 2 if base is None else base
    return Stamp(
        "v", f"a{sequence}", sequence, definition, "s", frontier, Technique.MERGE, before, "c",
        "CREATE MATERIALIZED VIEW v AS SELECT 1", {},
    )  # fmt: skip


class Table:
    """A view's table, of which only the log is there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.version = -1
        (folder / "_delta_log").mkdir(parents=True)

    def commit(self, note: Stamp | None) -> int:
        """A commit that changes rows; without a stamp it is somebody else's."""
        self.version += 1
        info = {"timestamp": self.version, "operation": "WRITE", "txnId": f"x{self.version}"}
        if note is not None:
            info["userMetadata"] = note.to_json()
        add = {"add": {"path": f"f{self.version}", "size": 1, "dataChange": True}}
        lines = [{"commitInfo": info}, *([PROTOCOL, METADATA] if self.version == 0 else []), add]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (self.folder / "_delta_log" / f"{self.version:020d}.json").write_text(text)
        return self.version

    @property
    def log(self) -> TableLog:
        return open_log(str(self.folder))


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Two refreshes: sequence 1 at version 0, sequence 2 at version 1."""
    made = Table(tmp_path / "v")
    made.commit(stamp(1))
    made.commit(stamp(2))
    return made


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(f"sqlite:///{tmp_path}/ledger.db", FrozenClock()) as opened:
        opened.views.create("v", path=str(tmp_path / "v"), fingerprint="one", compiled="c")
        yield opened


def record(ledger: Ledger) -> ViewRecord:
    found = ledger.views.get("v")
    assert found is not None
    return found


def test_a_commit_the_ledger_missed_is_followed(ledger: Ledger, table: Table) -> None:
    """S17: who died after its commit left a row behind that the next look repairs."""
    known = settle(ledger, record(ledger), table.log)
    assert (known.latest, known.record.sequence, known.record.table_version) == (1, 2, 1)
    assert record(ledger).frontier["t"].version == 20
    assert record(ledger).state is ViewState.READY


def test_what_is_known_is_of_one_version(
    ledger: Ledger, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S21: a commit that lands in the middle of a look is seen whole by the next one, or not."""
    find = TableLog.latest_version

    def overtaken(log: TableLog) -> int:
        found = find(log)
        if table.version == 1:
            table.commit(stamp(3))
        return found

    monkeypatch.setattr(TableLog, "latest_version", overtaken)
    known = settle(ledger, record(ledger), table.log)
    assert known.stamp is not None
    assert (known.latest, known.stamp.sequence, known.record.sequence) == (1, 2, 2)
    assert known.record.frontier["t"].version == 20
    known = settle(ledger, record(ledger), table.log)
    assert (known.latest, known.record.sequence) == (2, 3)


def test_a_definition_the_ledger_missed_is_followed(ledger: Ledger, table: Table) -> None:
    """S29: the commit of a new definition counts, also where the ledger has its sequence."""
    settle(ledger, record(ledger), table.log)
    version = table.commit(replace(stamp(3, definition="two"), compiled="d"))
    moved = {"frontier": stamp(3).frontier, "sequence": 3, "table_version": version}
    assert ledger.views.advance("v", expected_sequence=2, **moved)
    settle(ledger, record(ledger), table.log)
    assert (record(ledger).fingerprint, record(ledger).compiled) == ("two", "d")


def test_a_quiet_frontier_stays(ledger: Ledger, table: Table) -> None:
    """S28: what the ledger alone knows is kept as long as the view's table says nothing newer."""
    settle(ledger, record(ledger), table.log)
    quiet = Frontier.of({"t": SourceVersion("t", 25)})
    assert ledger.views.move_frontier("v", expected=record(ledger).frontier, frontier=quiet)
    assert settle(ledger, record(ledger), table.log).record.frontier == quiet
    table.commit(stamp(3))
    assert settle(ledger, record(ledger), table.log).record.frontier["t"].version == 30


@pytest.mark.parametrize("late", [None, stamp(3, base=0)], ids=["a stranger", "an overtaken one"])
def test_rows_nobody_vouches_for_are_refused(
    ledger: Ledger, table: Table, late: Stamp | None
) -> None:
    """S28: a stranger's write, or a step on top of one that it did not see, is tampering."""
    refuse_if_tampered(settle(ledger, record(ledger), table.log))
    table.commit(late)
    with pytest.raises(ViewTampered):
        refuse_if_tampered(settle(ledger, record(ledger), table.log))
