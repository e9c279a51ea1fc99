"""A PostgreSQL that is away, silent or frozen: an error in time, and work again when it is back."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from headwater.store import Ledger, ViewState
from headwater.testing.clock import FrozenClock
from headwater.vocabulary.errors import ConfigInvalid, LedgerUnreachable, LedgerUnreadable

SECRET = "correct-horse"


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that accepts connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def backends(postgres_server: str, schema: str) -> list[int]:
    """The server processes that work for a schema's ledger."""
    with psycopg.connect(postgres_server, autocommit=True) as admin:
        rows = admin.execute(
            "SELECT pid FROM pg_stat_activity WHERE query LIKE %s AND pid <> pg_backend_pid()",
            [f"%{schema}%"],
        ).fetchall()
    return [pid for (pid,) in rows]


def mark(ledger: Ledger, word: str) -> None:
    """Make the ledger's idle connection recognisable by its last statement."""
    from headwater.store.queries import Query

    ledger._database.rows(Query("mark", "", f"SELECT '{word}'"), {})


def test_nobody_listens(clock: FrozenClock) -> None:
    """A refused connection is reported with host and port, never with the password."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    began = time.monotonic()
    with pytest.raises(LedgerUnreachable) as caught:
        Ledger.open(f"postgresql://ann:{SECRET}@127.0.0.1:{port}/db", clock, timeout_seconds=2)
    assert time.monotonic() - began < 3
    assert f"127.0.0.1 port {port}" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_silent_server_is_given_up_in_time(clock: FrozenClock, silent_port: int) -> None:
    """A server that accepts and then says nothing is given up within the time limit."""
    began = time.monotonic()
    with pytest.raises(LedgerUnreachable, match=rf"127\.0\.0\.1 port {silent_port}"):
        Ledger.open(
            f"postgresql://ann:{SECRET}@127.0.0.1:{silent_port}/db", clock, timeout_seconds=2
        )
    assert time.monotonic() - began < 3


def test_an_unknown_host_is_reported(clock: FrozenClock) -> None:
    """A host that nobody knows is named."""
    with pytest.raises(LedgerUnreachable, match=r"no-such-host\.invalid port 5432"):
        Ledger.open("postgresql://ann@no-such-host.invalid/db", clock, timeout_seconds=2)


def test_an_unknown_option_is_the_urls_fault(clock: FrozenClock) -> None:
    """An option that PostgreSQL does not know is a wrong setting, not an outage."""
    with pytest.raises(ConfigInvalid, match="colour"):
        Ledger.open("postgresql://ann@127.0.0.1:1/db?colour=blue", clock, timeout_seconds=2)


def test_a_lost_connection_is_replaced(
    postgres_server: str, postgres_url: str, clock: FrozenClock
) -> None:
    """Connections cut while idle are replaced without the caller noticing."""
    with Ledger.open(postgres_url, clock) as ledger:
        mark(ledger, "cut-idle")
        with psycopg.connect(postgres_server, autocommit=True) as admin:
            for pid in backends(postgres_server, "cut-idle"):
                admin.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
        ledger.statements.put(1, "SELECT 1")
        assert len(ledger.statements.list()) == 1


def test_a_connection_lost_inside_a_transaction_is_an_error(
    postgres_server: str, postgres_url: str, clock: FrozenClock
) -> None:
    """A transaction cut in its middle leaves nothing behind, and the next one works."""

    def cut_in_the_middle(ledger: Ledger) -> None:
        with ledger.transaction():
            ledger.statements.put(1, "SELECT 1")
            mark(ledger, "cut-within")
            with psycopg.connect(postgres_server, autocommit=True) as admin:
                for pid in backends(postgres_server, "cut-within"):
                    admin.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
            ledger.statements.put(2, "SELECT 2")

    with Ledger.open(postgres_url, clock) as ledger:
        with pytest.raises(LedgerUnreachable):
            cut_in_the_middle(ledger)
        assert ledger.statements.list() == ()
        ledger.statements.put(3, "SELECT 3")


@pytest.mark.skipif("HEADWATER_TEST_PG" in os.environ, reason="the server is not ours to freeze")
def test_a_frozen_server_is_given_up_in_time(
    postgres_server: str, postgres_url: str, clock: FrozenClock
) -> None:
    """A server process that is stopped is given up within the limit, and all goes on after."""
    with Ledger.open(postgres_url, clock, timeout_seconds=2) as ledger:
        mark(ledger, "frozen")
        (pid,) = backends(postgres_server, "frozen")
        os.kill(pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            with pytest.raises(LedgerUnreachable):
                ledger.statements.list()
            assert time.monotonic() - began < 3
            assert ledger.statements.list() == ()  # by a new connection
        finally:
            os.kill(pid, signal.SIGCONT)


def test_a_row_locked_by_somebody_else_is_an_error_in_time(
    postgres_url: str, clock: FrozenClock
) -> None:
    """A write that waits for another's lock ends with the limit and does not happen later."""
    with Ledger.open(postgres_url, clock, timeout_seconds=1) as ledger:
        ledger.views.create("v", path="/v", fingerprint="f", compiled="{}")
        with psycopg.connect(postgres_url) as other:
            other.execute("UPDATE hw_view SET path = path")
            began = time.monotonic()
            with pytest.raises(LedgerUnreachable):
                ledger.views.set_state("v", ViewState.READY)
            assert time.monotonic() - began < 2
            other.rollback()
        time.sleep(0.2)
        view = ledger.views.get("v")
        assert view is not None
        assert view.state is ViewState.DEFERRED


def test_a_busy_pool_is_an_error_in_time(postgres_url: str, clock: FrozenClock) -> None:
    """More open transactions than the pool has connections: the last one is told in time."""
    with Ledger.open(postgres_url, clock, timeout_seconds=1.5) as ledger:
        together = threading.Barrier(25)
        done = threading.Event()

        def occupy() -> None:
            with ledger.transaction():
                together.wait(30)
                done.wait(30)

        threads = [threading.Thread(target=occupy) for _ in range(24)]
        for thread in threads:
            thread.start()
        together.wait(30)
        try:
            with pytest.raises(LedgerUnreachable):
                ledger.statements.list()
        finally:
            done.set()
            for thread in threads:
                thread.join()
        assert ledger.statements.list() == ()


def test_a_damaged_schema_is_named(postgres_url: str, clock: FrozenClock) -> None:
    """A table that somebody dropped is a permanent error that names the ledger."""
    with Ledger.open(postgres_url, clock) as ledger:
        with psycopg.connect(postgres_url, autocommit=True) as other:
            other.execute("DROP TABLE hw_statement")
        with pytest.raises(LedgerUnreadable, match="hw_statement"):
            ledger.statements.list()
