"""The shared ledger: PostgreSQL through SQLAlchemy's pool and psycopg.

No call may hang: connecting, waiting for a pooled connection, for a lock and for an answer all end
with the time limit, also when the server is frozen or the network swallows packets.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from sqlalchemy import URL, Connection, create_engine, event, exc, make_url

from headwater.store.dialects.patience import PatientConnection, patience
from headwater.store.queries import Query
from headwater.store.revisions import MIGRATION_WAIT_SECONDS
from headwater.vocabulary.errors import (
    ConfigInvalid,
    HeadwaterError,
    LedgerUnreachable,
    LedgerUnreadable,
    WrongUse,
)

_MIGRATION_LOCK = 4_842_001_193
_POOLED = 8
_POOLED_AT_PEAK = 24
_PARAMETER = re.compile(r"(?<!:):(\w+)")


class PostgresDatabase:
    """One PostgreSQL database; connections are pooled, transactions belong to their thread."""

    def __init__(self, url: str, timeout_seconds: float) -> None:
        self._url = _parsed(url)
        self._timeout_seconds = timeout_seconds
        self._local = threading.local()
        self._is_closed = False
        self._engine = create_engine(
            self._url,
            isolation_level="READ COMMITTED",
            pool_size=_POOLED,
            max_overflow=_POOLED_AT_PEAK - _POOLED,
            pool_timeout=timeout_seconds,
            pool_pre_ping=True,
        )
        self._single = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        event.listen(self._engine, "do_connect", self._connect)

    def rows(self, query: Query, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        return self._run(query.text, parameters)[0]

    def change(self, query: Query, parameters: Mapping[str, object]) -> int:
        return self._run(query.text, parameters)[1]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        if self._joined() is not None:
            yield
            return
        with self._coded(self._timeout_seconds), self._engine.connect() as connection:
            try:
                self._local.connection = connection
                yield
                patience.start(self._timeout_seconds)
                connection.commit()
            finally:
                self._local.connection = None
                patience.start(self._timeout_seconds)

    def revision(self) -> str | None:
        (found,) = self._run("SELECT to_regclass('hw_revision')::text", {})[0][0]
        if found is None:
            return None
        rows = self._run("SELECT version_num FROM hw_revision", {})[0]
        return rows[0][0] if rows else None

    @contextmanager
    def migration(self) -> Iterator[Connection]:
        with self._coded(self._timeout_seconds), self._engine.connect() as connection:
            patience.start(MIGRATION_WAIT_SECONDS)
            for limit in ("lock_timeout", "statement_timeout"):
                connection.exec_driver_sql(f"SET LOCAL {limit} = '{MIGRATION_WAIT_SECONDS:.0f}s'")
            connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
            yield connection
            connection.commit()

    def close(self) -> None:
        self._is_closed = True
        self._engine.dispose()

    def _joined(self) -> Connection | None:
        """The connection of the calling thread's open transaction."""
        if self._is_closed:
            raise WrongUse("the ledger is closed")
        return getattr(self._local, "connection", None)

    def _run(
        self, text: str, parameters: Mapping[str, object]
    ) -> tuple[list[tuple[Any, ...]], int]:
        joined = self._joined()
        with self._coded(self._timeout_seconds):
            if joined is not None:
                return _answer(joined, text, parameters)
            with self._single.connect() as connection:
                return _answer(connection, text, parameters)

    def _connect(
        self, _dialect: object, _record: object, positional: list[Any], named: dict[str, Any]
    ) -> PatientConnection:
        patience.check()
        limit_ms = int(self._timeout_seconds * 1000)
        network = {
            "keepalives_idle": max(1, limit_ms // 1000),
            "keepalives_interval": 1,
            "keepalives_count": 3,
            "tcp_user_timeout": limit_ms,
        }
        within = {"connect_timeout": max(1, int(patience.left)), "prepare_threshold": None}
        connection = PatientConnection.connect(
            *positional, autocommit=True, **{**network, **named, **within}
        )
        # The server gives up a little earlier than we do, so that its answer is still heard and a
        # statement that we have given up cannot take effect later.
        connection.execute(
            "SELECT set_config('statement_timeout', %(most)s, false),"
            " set_config('idle_in_transaction_session_timeout', %(most)s, false)",
            {"most": f"{limit_ms * 9 // 10}ms"},
        )
        connection.autocommit = False
        return connection

    @contextmanager
    def _coded(self, seconds: float) -> Iterator[None]:
        """Limit the time, and turn the driver's errors into those a user can act upon."""
        patience.start(seconds)
        try:
            yield
        except exc.IntegrityError:
            raise
        except (exc.DBAPIError, exc.TimeoutError) as error:
            raise self._error(error) from error

    def _error(self, error: exc.DBAPIError | exc.TimeoutError) -> HeadwaterError:
        cause = getattr(error, "orig", None) or error
        said = self._without_password(str(cause).strip().partition("\n")[0])
        if isinstance(error, exc.ProgrammingError):
            if getattr(cause, "sqlstate", None) is None:
                return ConfigInvalid(f"the store URL is not right: {said}")
            return LedgerUnreadable(f"the ledger at {self._place()} cannot be used: {said}")
        return LedgerUnreachable(f"the ledger at {self._place()} did not answer: {said}")

    def _place(self) -> str:
        host = self._url.host or _text(self._url.query.get("host")) or "the local socket"
        port = self._url.port or _text(self._url.query.get("port")) or 5432
        return f"{host} port {port}"

    def _without_password(self, said: str) -> str:
        password = self._url.password
        return said.replace(password, "***") if password else said


def _answer(
    connection: Connection, text: str, parameters: Mapping[str, object]
) -> tuple[list[tuple[Any, ...]], int]:
    result = connection.exec_driver_sql(_pyformat(text), dict(parameters))
    rows = [tuple(row) for row in result] if result.returns_rows else []
    return rows, result.rowcount


@cache
def _pyformat(text: str) -> str:
    """The same statement with its parameters as psycopg writes them."""
    return _PARAMETER.sub(r"%(\1)s", text.replace("%", "%%"))


def _parsed(url: str) -> URL:
    """The URL's parts; what cannot be read is not repeated, because it may hold a password."""
    try:
        return make_url(url)
    except (exc.ArgumentError, ValueError) as error:
        raise ConfigInvalid(
            "the store URL cannot be read",
            hint="write it as postgresql://user:password@host:port/database",
        ) from error


def _text(value: object) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value or "")
