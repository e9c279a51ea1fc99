"""Purge: files that belong only to versions of a view which nobody needs any more.

Every refresh leaves files behind that the view's newest version does not have. Readers of its
changes need some of them, and the table's own retention keeps some more; the others go.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import structlog

from headwater.capture.log import TableLog
from headwater.control.alerts import Alerts
from headwater.control.purge import floor, purge
from headwater.define.graph import dependents
from headwater.store.views import ViewRecord, ViewState
from headwater.vocabulary.errors import HeadwaterError, HistoryGone
from headwater.vocabulary.names import quoted
from headwater.workspace.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)

_RETENTION = "delta.deletedFileRetentionDuration"
_INTERVAL = re.compile(r"(?i)(?:interval\s+)?(\d+)\s+(second|minute|hour|day|week)s?")
_AT_ONCE = 1_000_000
"""One VACUUM is as dear for one version as for many."""


class Purging:
    """Looks at the histories of all views; remembers how far each has been purged."""

    def __init__(self) -> None:
        self._marks: dict[str, int] = {}

    def run(self, workspace: Workspace, is_canceled: Callable[[], bool]) -> None:
        """One view after the other; what goes wrong with one is told and keeps no other."""
        for record in workspace.ledger.views.list():
            if is_canceled():
                return
            if record.state is not ViewState.READY:
                continue
            try:
                self._look(workspace, record, is_canceled)
            except HeadwaterError as error:
                log.warning("not_purged", view=record.name, error=error.what)

    def _look(
        self, workspace: Workspace, record: ViewRecord, is_canceled: Callable[[], bool]
    ) -> None:
        now = workspace.clock.now()
        history = ViewHistory(
            workspace.log_of(record.name),
            lambda before: _vacuum(workspace.spark, record.path, now - before),
            self._marks.get(record.name, 0),
        )
        retention = history.retention()
        kept = None if retention is None else history.first_after(now - retention)
        if kept is not None:
            readers = dependents(workspace.definitions, record.name)
            views = workspace.ledger.views.list()
            lowest = floor(record.name, history.table_id, views, readers, kept)
            if lowest is not None and lowest > history.mark():
                done = purge(
                    history,
                    lowest,
                    now=workspace.clock.now,
                    cancelled=is_canceled,
                    batch=_AT_ONCE,
                )
                log.info("purged", view=record.name, version=done.mark)
        self._marks[record.name] = history.mark()
        limit = int(workspace.config.control.history_megabytes * 2**20)
        Alerts(workspace.ledger).check_size(record.name, history.bytes(), limit, now)


@dataclass
class ViewHistory:
    """The versions of a view's own table."""

    table: TableLog
    vacuum: Callable[[datetime], None]  # deletes what no version since then has
    purged: int

    @property
    def table_id(self) -> str:
        return self.table.metadata().table_id

    def retention(self) -> timedelta | None:
        """How long the table keeps what it no longer has; None if that is not understood."""
        told = self.table.metadata().configuration.get(_RETENTION, "interval 1 week")
        found = _INTERVAL.fullmatch(told.strip())
        return timedelta(**{f"{found[2].lower()}s": int(found[1])}) if found else None

    def mark(self) -> int:
        return self.purged

    def first_after(self, moment: datetime) -> int:
        """The version that was current at a moment; 0 if there was none yet, or it is unknown."""
        version = self.table.latest_version()
        try:
            while version > 0 and self.table.commit(version).timestamp > moment:
                version -= 1
        except HistoryGone:
            return 0
        return version

    def delete(self, _first: int, end: int) -> None:
        self.vacuum(self.table.commit(end).timestamp)

    def move_mark(self, version: int) -> None:
        self.purged = version

    def bytes(self) -> int:
        """How much the newest version no longer has and the purge has left."""
        latest = self.table.latest_version()
        first = max(self.purged, self.table.earliest_commit() - 1)
        commits = self.table.commits(first, latest)
        return sum(commit.removes.bytes + commit.cdc.bytes for commit in commits)


def _vacuum(spark: SparkSession, path: str, age: timedelta) -> None:
    from headwater.execute.isolated import isolated  # noqa: PLC0415  (loads Spark)

    hours = age.total_seconds() / 3600
    isolated(spark).sql(f"VACUUM delta.{quoted(path)} RETAIN {hours:.6f} HOURS")
