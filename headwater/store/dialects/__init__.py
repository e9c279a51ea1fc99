"""The two databases a ledger can live in. All that they do differently is in this package."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from headwater.store.queries import Query
from headwater.vocabulary.errors import ConfigInvalid

if TYPE_CHECKING:
    from sqlalchemy import Connection


class Database(Protocol):
    """What the table classes ask of a database; safe to use from several threads."""

    def rows(self, query: Query, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        """Run a query that answers with rows."""
        ...

    def change(self, query: Query, parameters: Mapping[str, object]) -> int:
        """Run a statement and tell how many rows it changed."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Join the calling thread's statements into one transaction; nested ones join the outer.

        An error must leave the outermost one, which then undoes everything.
        """
        ...

    def revision(self) -> str | None:
        """The schema's revision; None if there is no schema yet."""
        ...

    def migration(self) -> AbstractContextManager[Connection]:
        """A transaction in which the schema may change while every other migration waits."""
        ...

    def close(self) -> None:
        """Let go of all connections; harmless when repeated."""
        ...


def open_database(url: str, timeout_seconds: float) -> Database:
    """The database an URL names: `sqlite:///path`, `sqlite://` (in memory) or `postgresql://...`."""
    scheme, _, rest = url.partition("://")
    match scheme.partition("+")[0]:
        case "sqlite":
            from headwater.store.dialects.sqlite import SqliteDatabase  # noqa: PLC0415  (speed)

            return SqliteDatabase(rest.partition("?")[0].removeprefix("/"), timeout_seconds)
        case "postgresql" | "postgres":
            # Loads SQLAlchemy (about 0.3 s), which a SQLite ledger only needs to migrate.
            from headwater.store.dialects.postgres import PostgresDatabase  # noqa: PLC0415

            return PostgresDatabase(f"postgresql+psycopg://{rest}", timeout_seconds)
    raise ConfigInvalid(
        f"no ledger can be opened at a URL that starts with {scheme or 'nothing'!r}",
        hint="use sqlite:///path/to/file or postgresql://user@host:port/database",
    )
