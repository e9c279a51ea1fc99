"""Opening a ledger: new, present, newer than the code, or none at all."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headwater.store import Ledger
from headwater.store.dialects import open_database
from headwater.store.queries import Query
from headwater.store.revisions import HEAD, REVISIONS
from headwater.testing.clock import FrozenClock
from headwater.testing.ledger import memory_ledger
from headwater.vocabulary.errors import (
    ConfigInvalid,
    LedgerTooNew,
    LedgerUnreachable,
    LedgerUnreadable,
    WrongUse,
)

OPEN_AND_WRITE = """
import sys
from headwater.store import Ledger
from headwater.vocabulary.clock import SystemClock
sys.stdin.readline()
with Ledger.open(sys.argv[1], SystemClock()) as ledger:
    ledger.statements.put(int(sys.argv[2]), "SELECT 1")
"""


def set_revision(url: str, revision: str) -> None:
    database = open_database(url, 5)
    database.change(
        Query("set", "", "UPDATE hw_revision SET version_num = :revision"), {"revision": revision}
    )
    database.close()


def test_what_was_written_is_there_after_reopening(ledger_url: str, clock: FrozenClock) -> None:
    """A ledger keeps its content between two openings."""
    with Ledger.open(ledger_url, clock) as ledger:
        ledger.statements.put(1, "SELECT 'ä'")
    with Ledger.open(ledger_url, clock) as ledger:
        assert [s.text for s in ledger.statements.list()] == ["SELECT 'ä'"]


def test_eight_processes_may_open_an_empty_ledger_at_once(ledger_url: str, spawn) -> None:
    """Several first openings make one schema, and none of them fails."""
    processes = [spawn(OPEN_AND_WRITE, ledger_url, str(number)) for number in range(8)]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    outcomes = [process.communicate(timeout=120) for process in processes]
    assert [p.returncode for p in processes] == [0] * 8, outcomes
    with Ledger.open(ledger_url, FrozenClock()) as ledger:
        assert [s.statement_no for s in ledger.statements.list()] == list(range(8))


def test_a_ledger_of_a_newer_version_is_refused(ledger_url: str, clock: FrozenClock) -> None:
    """An unknown revision is refused, naming it and the newest known one."""
    Ledger.open(ledger_url, clock).close()
    set_revision(ledger_url, "9999")
    with pytest.raises(LedgerTooNew, match=rf"9999.*{HEAD}"):
        Ledger.open(ledger_url, clock)


def test_the_known_revisions_are_the_migrations() -> None:
    """The list that opening compares with names every migration, in order."""
    from alembic.script import ScriptDirectory

    from headwater.store.migrate import alembic_config

    scripts = ScriptDirectory.from_config(alembic_config())
    assert tuple(reversed([s.revision for s in scripts.walk_revisions()])) == REVISIONS


def test_a_migration_that_fails_leaves_nothing_behind(ledger_url: str, clock: FrozenClock) -> None:
    """A migration is one transaction: after a failure in its middle the database is empty still."""
    blocker = Query("block", "", "CREATE TABLE hw_attempt (other INTEGER)")
    database = open_database(ledger_url, 5)
    database.change(blocker, {})
    with pytest.raises(LedgerUnreadable):
        Ledger.open(ledger_url, clock)
    database.change(Query("unblock", "", "DROP TABLE hw_attempt"), {})
    assert database.revision() is None
    database.close()
    with Ledger.open(ledger_url, clock) as ledger:
        assert ledger.views.list() == ()


def test_a_file_that_is_no_database_is_refused(tmp_path: Path, clock: FrozenClock) -> None:
    """A file of another kind gives a coded error and stays as it is."""
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, not a database\n" * 100)
    before = path.read_bytes()
    with pytest.raises(LedgerUnreadable, match=r"notes\.txt"):
        Ledger.open(f"sqlite:///{path}", clock)
    assert path.read_bytes() == before


@pytest.mark.parametrize("path", ["no/such/folder/ledger.db", "."])
def test_a_path_that_cannot_be_opened_is_refused(
    tmp_path: Path, clock: FrozenClock, path: str
) -> None:
    """A missing folder, or a folder in place of a file, gives a coded error."""
    with pytest.raises(LedgerUnreadable):
        Ledger.open(f"sqlite:///{tmp_path / path}", clock)


@pytest.mark.parametrize(
    "url", ["", "mysql://host/db", "ledger.db", "postgresql://u:hunter2@h:notaport/x"]
)
def test_a_url_of_another_kind_is_refused(clock: FrozenClock, url: str) -> None:
    """An URL that names no supported database is refused without repeating a password."""
    with pytest.raises(ConfigInvalid) as caught:
        Ledger.open(url, clock)
    assert "hunter2" not in str(caught.value)


def test_a_sqlite_ledger_may_be_deleted(sqlite_url: str, clock: FrozenClock, spawn) -> None:
    """A ledger whose file was deleted after a crash, its log left behind, opens empty."""
    process = spawn(
        OPEN_AND_WRITE + "import os, signal\n"
        "ledger = Ledger.open(sys.argv[1], SystemClock())\n"
        "ledger.statements.put(2, 'SELECT 2')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n",
        sqlite_url,
        "1",
    )
    process.communicate("go\n", timeout=60)
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    assert path.with_name("ledger.db-wal").exists()
    path.unlink()
    with Ledger.open(sqlite_url, clock) as ledger:
        assert ledger.statements.list() == ()


def test_a_locked_file_is_reported_in_time(sqlite_url: str, clock: FrozenClock) -> None:
    """A SQLite file that another program keeps locked is an error after the time limit."""
    path = sqlite_url.removeprefix("sqlite:///")
    with Ledger.open(sqlite_url, clock, timeout_seconds=0.2) as ledger:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnreachable, match=r"locked.*0\.2 s"):
            ledger.statements.put(1, "SELECT 1")
        with pytest.raises(LedgerUnreachable), ledger.transaction():
            pass
        assert ledger.statements.list() == ()  # readers go on
        other.execute("ROLLBACK")
        other.close()
        ledger.statements.put(1, "SELECT 1")


def test_an_exclusively_locked_file_is_reported_at_opening(
    sqlite_url: str, clock: FrozenClock
) -> None:
    """Opening does not hang on a file that may not even be read."""
    Ledger.open(sqlite_url, clock).close()
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerUnreachable):
        Ledger.open(sqlite_url, clock, timeout_seconds=0.2)
    other.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
def test_a_read_only_file_is_refused_on_writing(sqlite_url: str, clock: FrozenClock) -> None:
    """A file without write permission gives a coded error at the first write."""
    Ledger.open(sqlite_url, clock).close()
    Path(sqlite_url.removeprefix("sqlite:///")).chmod(0o444)
    with Ledger.open(sqlite_url, clock) as ledger, pytest.raises(LedgerUnreadable):
        ledger.statements.put(1, "SELECT 1")


def test_a_closed_ledger_says_so(ledger_url: str, clock: FrozenClock) -> None:
    """Closing twice is harmless; using a closed ledger is wrong use."""
    ledger = Ledger.open(ledger_url, clock)
    ledger.close()
    ledger.close()
    with pytest.raises(WrongUse, match="closed"):
        ledger.statements.list()


def test_a_sqlite_ledger_is_safe_and_shared(sqlite_url: str, clock: FrozenClock) -> None:
    """Readers and a writer work side by side, writes reach the disk in order, keys are held."""
    pragmas = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
    Ledger.open(sqlite_url, clock).close()
    with Ledger.open(sqlite_url, clock, timeout_seconds=3) as ledger:
        told = [
            ledger._database.rows(Query("pragma", "", f"PRAGMA {pragma}"), {})[0][0]
            for pragma in pragmas
        ]
    assert told == ["wal", 1, 1, 3000]


def test_a_relative_path_stays_where_it_was(
    tmp_path: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change of the working folder does not lead later threads to another file."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with Ledger.open("sqlite:///ledger.db", clock) as ledger, ThreadPoolExecutor(1) as other:
        monkeypatch.chdir(tmp_path / "elsewhere")
        ledger.statements.put(1, "SELECT 1")
        assert len(other.submit(ledger.statements.list).result()) == 1


def test_memory_ledgers_are_separate(clock: FrozenClock) -> None:
    """Two ledgers in memory know nothing of each other."""
    with memory_ledger(clock) as one, memory_ledger(clock) as other:
        one.statements.put(1, "SELECT 1")
        assert other.statements.list() == ()


def test_an_up_to_date_sqlite_ledger_loads_no_sqlalchemy(sqlite_url: str) -> None:
    """The path of a refresh with nothing to do stays free of slow imports."""
    Ledger.open(sqlite_url, FrozenClock()).close()
    code = (
        "import sys\n"
        "from headwater.store import Ledger\n"
        "from headwater.vocabulary.clock import SystemClock\n"
        "Ledger.open(sys.argv[1], SystemClock()).views.get('v')\n"
        "print(sorted({m.partition('.')[0] for m in sys.modules}"
        " & {'sqlalchemy', 'alembic', 'psycopg', 'psutil', 'asyncio'}))\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, sqlite_url],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert told.stdout.strip() == "[]"
