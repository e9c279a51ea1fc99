"""Ledgers in memory, many of them, quickly."""

from __future__ import annotations

from functools import cache

from headwater.store.dialects.sqlite import SqliteDatabase
from headwater.store.migrate import migrate


def memory_database() -> SqliteDatabase:
    """An empty ledger's database; the migrations run once per process, then it is copied."""
    database = SqliteDatabase("", 5)
    _template()._connection().backup(database._connection())  # noqa: SLF001  (SQLite's own copy)
    return database


@cache
def _template() -> SqliteDatabase:
    database = SqliteDatabase("", 5)
    migrate(database)
    return database
