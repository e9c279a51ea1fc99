"""After a commit: the ledger follows. After a death in between: the next look repairs it.

The view's table is the truth. Every function here may be run again, or never, without harm.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from headwater.capture.log import TableLog
from headwater.capture.view_log import (
    CommittedState,
    committed_state,
    foreign_commits,
    overlapped,
)
from headwater.store.ledger import Ledger
from headwater.store.views import ViewRecord, ViewState
from headwater.vocabulary.errors import ViewTampered
from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.stamp import Stamp


@dataclass(frozen=True)
class Known:
    """A view's ledger row after it was compared with the view's own log."""

    record: ViewRecord
    stamp: Stamp | None  # of the newest commit of ours; None if there is none
    latest: int  # newest version of the table, ours or a harmless one of somebody else; -1 for none
    strangers: tuple[int, ...] = ()  # versions at which somebody else changed the view's rows


def settle(ledger: Ledger, record: ViewRecord, log: TableLog) -> Known:
    """Bring the ledger's row up to what the view's table says.

    Content, stamp and sequence are all of one version, however many refreshers commit meanwhile: a
    refresh that mixed two of them could get past the fence.
    """
    if not log.exists():
        return Known(record, None, -1)
    latest = log.latest_version()
    state = committed_state(log, latest)
    if state is None:
        return Known(record, None, latest)
    if not _is_followed(record, state):
        record = _followed(ledger, record, state)
    since = state.stamp.base if state.stamp.base >= 0 else state.version
    strangers = [c.version for c in foreign_commits(log, since, latest)]
    return Known(record, state.stamp, latest, tuple(sorted({*strangers, *overlapped(log, state)})))


def _is_followed(record: ViewRecord, state: CommittedState) -> bool:
    if (record.sequence, record.table_version) != (state.sequence, state.version):
        return False
    defined = (state.stamp.definition, state.stamp.compiled)
    return record.state is not ViewState.READY or (record.fingerprint, record.compiled) == defined


def _followed(ledger: Ledger, record: ViewRecord, state: CommittedState) -> ViewRecord:
    """The row as the commit has it; somebody else may have written more of it by now."""
    stamp = state.stamp
    ledger.views.advance(
        record.name,
        expected_sequence=record.sequence,
        frontier=stamp.frontier,
        sequence=stamp.sequence,
        table_version=state.version,
    )
    if record.state is ViewState.READY or stamp.definition == record.fingerprint:
        ledger.views.redefine(record.name, fingerprint=stamp.definition, compiled=stamp.compiled)
        ledger.views.set_state(record.name, ViewState.READY)
    return replace(
        ledger.views.get(record.name) or record,
        frontier=stamp.frontier,
        sequence=stamp.sequence,
        table_version=state.version,
    )


def refuse_if_tampered(known: Known) -> None:
    """A view that somebody else wrote to is not touched until its owner says so."""
    if known.strangers:
        versions = ", ".join(map(str, known.strangers))
        raise ViewTampered(
            f"{known.record.name}: version {versions} of its table was written by somebody else",
            where=known.record.path,
        )


def publish_commit(ledger: Ledger, record: ViewRecord, stamp: Stamp, version: int) -> None:
    """The new frontier, sequence and version, by compare-and-set."""
    ledger.views.advance(
        record.name,
        expected_sequence=record.sequence,
        frontier=stamp.frontier,
        sequence=stamp.sequence,
        table_version=version,
    )
    ledger.views.set_state(record.name, ViewState.READY)


def publish_quiet(ledger: Ledger, record: ViewRecord, frontier: Frontier) -> bool:
    """Nothing to write: only the ledger's frontier moves."""
    if frontier == record.frontier:
        return True
    return ledger.views.move_frontier(record.name, expected=record.frontier, frontier=frontier)
