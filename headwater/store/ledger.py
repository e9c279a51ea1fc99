"""The control database as the rest of Headwater sees it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Self

from headwater.store.attempts import Attempts
from headwater.store.claims import Claims
from headwater.store.commands import Commands
from headwater.store.definitions import Definitions
from headwater.store.dialects import Database, open_database
from headwater.store.events import Events
from headwater.store.jobs import Jobs
from headwater.store.leases import Leases
from headwater.store.marks import Marks
from headwater.store.revisions import HEAD, refuse_unknown
from headwater.store.runners import Runners
from headwater.store.sources import Sources
from headwater.store.statements import Statements
from headwater.store.views import Views
from headwater.vocabulary.clock import Clock


class Ledger:
    """One object per table family over one database; open it once and share it between threads."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self.definitions = Definitions(database, clock)
        self.statements = Statements(database)
        self.sources = Sources(database, clock)
        self.views = Views(database, clock)
        self.claims = Claims(database)
        self.attempts = Attempts(database)
        self.marks = Marks(database)
        self.leases = Leases(database)
        self.runners = Runners(database)
        self.jobs = Jobs(database)
        self.commands = Commands(database)
        self.events = Events(database)

    @classmethod
    def open(cls, url: str, clock: Clock, *, timeout_seconds: float = 5) -> Self:
        """Open the ledger at a URL, making or migrating its schema first if that is needed."""
        database = open_database(url, timeout_seconds)
        try:
            _bring_up_to_date(database)
        except BaseException:
            database.close()
            raise
        return cls(database, clock)

    def transaction(self) -> AbstractContextManager[None]:
        """Make several changes of the calling thread one: all of them happen, or none.

        Keep it short, and let errors leave it.
        """
        return self._database.transaction()

    def close(self) -> None:
        """Let go of the database; harmless when repeated."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _bring_up_to_date(database: Database) -> None:
    present = database.revision()
    if present == HEAD:
        return
    refuse_unknown(present)
    from headwater.store.migrate import migrate  # noqa: PLC0415  (loads Alembic)

    migrate(database)
