"""An open project: its definitions, ledger, tables and, once somebody needs it, its Spark."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from headwater.capture.log import TableLog, open_log
from headwater.config import Config
from headwater.define.definitions import Definitions
from headwater.define.graph import dependencies
from headwater.define.kind import canonical
from headwater.define.source import SourceDef
from headwater.define.stored import from_json, to_json
from headwater.define.view import ViewDef
from headwater.execute.settings import (
    RESULT_SETTINGS,
    TIME_ZONE,
    configured_fingerprint,
    session_fingerprint,
)
from headwater.store.encoding import json_text, json_value
from headwater.store.ledger import Ledger
from headwater.store.views import ViewRecord, ViewState
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.clocks import values_at
from headwater.vocabulary.errors import UnknownName, ViewNotReady
from headwater.vocabulary.frontier import Frontier

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.define.definitions import Definition
    from headwater.plan.view import Columns

Observer = Callable[[str], None]
"""Told the name of each step of a refresh before it begins."""


@dataclass
class Pending:
    """A definition that is not in force yet, and its compiled form once there is one."""

    definition: ViewDef
    compiled: str = ""


class Workspace:
    """What every verb works on. Opening it starts no JVM."""

    def __init__(
        self,
        config: Config,
        ledger: Ledger,
        clock: Clock,
        *,
        session: Callable[[], SparkSession],
        given_session: bool = False,
        stop_session: Callable[[SparkSession], None] = lambda spark: spark.stop(),
        observer: Observer = lambda _step: None,
    ) -> None:
        self.config = config
        self.ledger = ledger
        self.clock = clock
        self.observer = observer
        self._build_session = session
        self._given_session = given_session
        self._stop_session = stop_session
        self._spark: SparkSession | None = None
        self._lock = threading.RLock()
        self._definitions: Definitions | None = None
        self.pending: dict[str, Pending] = {}  # views being defined anew, seen by their build only
        self.registered: dict[str, str] = {}  # names in the session -> the query behind them
        self.running: dict[str, Callable[[], None]] = {}  # attempt id -> asks it to stop

    # --- Spark ------------------------------------------------------------------------------

    @property
    def spark(self) -> SparkSession:
        with self._lock:
            if self._spark is None:
                self._spark = self._build_session()
            return self._spark

    @property
    def started_spark(self) -> SparkSession | None:
        """The session if there is one already."""
        return self._spark

    def settings_fingerprint(self) -> str:
        """Of the session that refreshes use, without starting it where that can be avoided."""
        if self._given_session or self._spark is not None:
            return session_fingerprint(self.spark)
        return configured_fingerprint(self.config.spark)

    def clock_values(self, clocks: Collection[str], at: datetime | None = None) -> dict[str, str]:
        """What a query that asks the clock is told, in the time zone of its session."""
        if not clocks:
            return {}
        return values_at(clocks, at or self.clock.now(), self._setting(TIME_ZONE))

    def _setting(self, name: str) -> str:
        default = RESULT_SETTINGS[name]
        if self._given_session or self._spark is not None:
            return str(self.spark.conf.get(name, default))
        return self.config.spark.get(name, default)

    def branch(self, observer: Observer) -> Workspace:
        """The same project, ledger and Spark, for one piece of work whose attempts are its own."""
        other = copy.copy(self)
        other.observer = observer
        other.running = {}
        other._build_session = lambda: self.spark  # noqa: SLF001  (a copy of this one)
        return other

    def drop_spark(self, lost: SparkSession) -> None:
        """Forget a session that died, so that the next one who needs Spark starts another."""
        with self._lock:
            if self._spark is lost:
                self._spark = None

    def stop(self) -> None:
        """Ask all that runs here to stop; a job may begin meanwhile, so ask until nothing runs."""
        for cancel in tuple(self.running.values()):
            cancel()

    def close(self) -> None:
        """Close the ledger, and the session unless it is the caller's own."""
        self.ledger.close()
        with self._lock:
            if self._spark is not None and not self._given_session:
                self._stop_session(self._spark)
            self._spark = None

    # --- definitions ------------------------------------------------------------------------

    @property
    def definitions(self) -> Definitions:
        with self._lock:
            if self._definitions is None:
                records = self.ledger.definitions.list()
                self._definitions = Definitions.of(from_json(json_value(r.text)) for r in records)
            known = self._definitions
            for waiting in tuple(self.pending.values()):
                known = known.with_(waiting.definition)
            return known

    def reload(self) -> None:
        with self._lock:
            self._definitions = None

    @contextmanager
    def redefining(self, pending: Pending) -> Iterator[None]:
        """Inside, the new definition holds for this workspace; the ledger learns it by `settle`."""
        name = pending.definition.name
        self.pending[name] = pending
        try:
            yield
        finally:
            self.pending.pop(name, None)

    def settle_pending(self, name: str) -> None:
        """After the commit that carries a new definition: the ledger follows."""
        waiting = self.pending.get(name)
        if waiting is not None:
            definition = waiting.definition
            self.store_definition(definition)
            self.ledger.views.redefine(
                name, fingerprint=definition.fingerprint, compiled=waiting.compiled
            )

    def store_definition(self, definition: Definition) -> None:
        place = definition.location
        self.ledger.definitions.put(
            definition.kind.value,
            definition.name,
            json_text(to_json(definition)),
            place.file,
            place.line,
            place.column,
            getattr(definition, "fingerprint", ""),
        )
        self.reload()

    # --- tables -----------------------------------------------------------------------------

    def view(self, name: str) -> ViewRecord:
        record = self.ledger.views.get(canonical(name))
        if record is None:
            raise UnknownName(f"no view `{name}`", hint=self._known_views())
        return record

    def frontier_of(self, name: str) -> Frontier:
        """How far a view has read; nowhere, where its definition is all that there is of it."""
        record = self.ledger.views.get(name)
        return Frontier() if record is None else record.frontier

    def ready_view(self, name: str) -> ViewRecord:
        record = self.view(name)
        if record.state is not ViewState.READY:
            raise ViewNotReady(f"{record.name} is {record.state.value}")
        return record

    def inputs(self, view: str) -> tuple[str, ...]:
        """The sources and views that a view reads."""
        return dependencies(self.definitions, view)

    def is_view(self, name: str) -> bool:
        return name in self.definitions.views

    def path_of(self, name: str) -> str:
        """Where a source's or view's table lies."""
        if self.is_view(name):
            return self.view(name).path
        source = self.definitions.sources.get(name)
        if source is None:
            raise UnknownName(f"no source or view `{name}`")
        return self.source_path(source)

    def source_path(self, source: SourceDef) -> str:
        if source.path is not None:
            return self.config.located(source.path)
        known = self.ledger.sources.get(source.name)
        if known is not None:
            return known.path
        return self._catalog_path(source)

    def log_of(self, name: str) -> TableLog:
        return open_log(self.path_of(name))

    def columns_of(self, name: str, visible: Callable[[str], Columns]) -> Columns:
        """A table's columns as a query sees them; `visible` answers for views."""
        if self.is_view(name):
            return visible(name)
        schema = self.log_of(name).metadata().schema
        return tuple((field.name, field.type_text) for field in schema)

    def padded_columns(self, name: str) -> frozenset[str]:
        """A table's columns of type CHAR, in lower case; none of a view that is not built yet."""
        if self.is_view(name) and self.view(name).state is not ViewState.READY:
            return frozenset()
        schema = self.log_of(name).metadata().schema
        return frozenset(field.name.lower() for field in schema if field.is_padded)

    def _catalog_path(self, source: SourceDef) -> str:
        detail = self.spark.sql(f"DESCRIBE DETAIL {source.table}").first()
        if detail is None:
            raise UnknownName(f"no table {source.table} in the catalog", where=source.location)
        path = str(detail["location"])
        self.ledger.sources.put(source.name, path, str(detail["id"]), None)
        return path

    def _known_views(self) -> str:
        names = ", ".join(sorted(self.definitions.views)[:8])
        return f"known views: {names}" if names else "define one with CREATE MATERIALIZED VIEW"
