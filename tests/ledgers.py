"""One behaviour suite, two databases: SQLite files and a real PostgreSQL."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from headwater.store import Ledger
from headwater.testing.clock import FrozenClock

ROOT = Path(__file__).parents[1]

Spawn = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """An empty PostgreSQL schema of its own."""
    schema = f"hw_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_server, autocommit=True) as admin:
        admin.execute(f"CREATE SCHEMA {schema}")
    joint = "&" if "?" in postgres_server else "?"
    yield f"{postgres_server}{joint}options={quote(f'-csearch_path={schema}')}"
    with psycopg.connect(postgres_server, autocommit=True) as admin:
        admin.execute("SET client_min_messages = warning")
        admin.execute(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """A SQLite file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'ledger.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def ledger_url(request: pytest.FixtureRequest) -> str:
    """An empty database of each kind."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def ledger(ledger_url: str, clock: FrozenClock) -> Iterator[Ledger]:
    with Ledger.open(ledger_url, clock) as opened:
        yield opened


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Start Python processes that run a piece of code; whatever is left is killed at the end."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
