"""The embedded ledger: SQLite through the standard library.

Each thread keeps one open connection. Statements run as they are; SQLAlchemy is loaded only to
migrate, because loading it takes longer than a whole refresh that has nothing to do.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from headwater.store.queries import Query
from headwater.store.revisions import MIGRATION_WAIT_SECONDS
from headwater.vocabulary.errors import (
    HeadwaterError,
    LedgerUnreachable,
    LedgerUnreadable,
    WrongUse,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection

_REVISION = "SELECT version_num FROM hw_revision"
_LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class _Seat:
    """One thread's connection, closed with the thread; by itself it waits for the collector."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def __del__(self) -> None:
        self.connection.close()


class SqliteDatabase:
    """One SQLite file, or one database in memory when the path is empty."""

    def __init__(self, path: str, timeout_seconds: float) -> None:
        # Absolute, because every thread connects by itself and the working folder may change.
        self._path = "" if path in {"", ":memory:"} else str(Path(path).absolute())
        self._timeout_seconds = timeout_seconds
        self._local = threading.local()
        self._seats: WeakSet[_Seat] = WeakSet()
        self._is_closed = False
        # In memory there is one connection, which the threads must share by turns.
        self._shared = None if self._path else self._connect(timeout_seconds)
        self._turn: AbstractContextManager[Any] = nullcontext() if self._path else threading.RLock()

    def rows(self, query: Query, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        with self._turn:
            return self._run(query.text, parameters)[0]

    def change(self, query: Query, parameters: Mapping[str, object]) -> int:
        with self._turn:
            return self._run(query.text, parameters)[1]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._turn:
            connection = self._connection()
            if connection.in_transaction:
                yield
                return
            try:
                self._run("BEGIN IMMEDIATE")
                yield
                self._run("COMMIT")
            except BaseException:
                connection.rollback()
                raise

    def revision(self) -> str | None:
        with self._turn:
            try:
                rows = self._connection().execute(_REVISION).fetchall()
            except sqlite3.OperationalError as error:
                if "no such table" in str(error):
                    return None
                raise self._coded(error) from error
            except sqlite3.Error as error:
                raise self._coded(error) from error
            return rows[0][0] if rows else None

    @contextmanager
    def migration(self) -> Iterator[Connection]:
        # Only here is SQLAlchemy needed.
        from sqlalchemy import create_engine  # noqa: PLC0415
        from sqlalchemy.exc import DBAPIError  # noqa: PLC0415
        from sqlalchemy.pool import StaticPool  # noqa: PLC0415

        with self._turn:
            connection = self._shared or self._connect(MIGRATION_WAIT_SECONDS)
            engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
            try:
                _switch_to_write_ahead(connection)
                with engine.connect() as migrating:
                    migrating.exec_driver_sql("BEGIN IMMEDIATE")
                    yield migrating
                    migrating.commit()
            except sqlite3.DatabaseError as error:
                raise self._coded(error, MIGRATION_WAIT_SECONDS) from error
            except DBAPIError as error:
                raise self._coded(error.orig or error, MIGRATION_WAIT_SECONDS) from error
            finally:
                if connection is not self._shared:
                    connection.close()

    def close(self) -> None:
        self._is_closed = True
        for seat in list(self._seats):
            seat.connection.close()
        if self._shared is not None:
            self._shared.close()

    def _connection(self) -> sqlite3.Connection:
        if self._is_closed:
            raise WrongUse("the ledger is closed")
        if self._shared is not None:
            return self._shared
        seat: _Seat | None = getattr(self._local, "seat", None)
        if seat is None:
            seat = self._local.seat = _Seat(self._connect(self._timeout_seconds))
            self._seats.add(seat)
        return seat.connection

    def _connect(self, timeout_seconds: float) -> sqlite3.Connection:
        try:
            if self._path:
                Path(self._path).parent.mkdir(exist_ok=True)
            connection = sqlite3.connect(
                self._path or ":memory:",
                timeout=timeout_seconds,
                isolation_level=None,
                check_same_thread=False,
            )
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
        except (sqlite3.Error, OSError) as error:
            raise self._coded(error) from error
        return connection

    def _run(
        self, text: str, parameters: Mapping[str, object] | tuple[()] = ()
    ) -> tuple[list[tuple[Any, ...]], int]:
        connection = self._connection()
        try:
            cursor = connection.execute(text, parameters)
            return cursor.fetchall(), cursor.rowcount
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
            raise
        except sqlite3.DatabaseError as error:
            raise self._coded(error) from error

    def _coded(self, error: BaseException, waited: float | None = None) -> HeadwaterError:
        """The error a user sees: temporary if the file may be right a moment later."""
        code = _code(error)
        if code in _LOCKED:
            return LedgerUnreachable(
                f"the ledger {self._path} was locked by another process "
                f"for more than {waited or self._timeout_seconds:g} s",
                hint="look for a program that holds the file open, then try again",
            )
        if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
            return LedgerUnreachable(
                f"the ledger {self._path} cannot be written: {error}",
                hint="make room on its disk, then try again",
            )
        return LedgerUnreadable(f"the ledger {self._path} cannot be used: {error}")


def _code(error: BaseException) -> int:
    """SQLite's own number for what went wrong, without its finer divisions."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _switch_to_write_ahead(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work side by side; SQLite itself does not wait its turn for this."""
    deadline = time.monotonic() + MIGRATION_WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except sqlite3.OperationalError as error:
            if _code(error) not in _LOCKED or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return
