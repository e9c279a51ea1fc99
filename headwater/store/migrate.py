"""Brings a ledger's schema up to date. Loads Alembic: import this only if it is needed."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext

from headwater.store.dialects import Database
from headwater.store.revisions import HEAD, VERSION_TABLE, refuse_unknown


def migrate(database: Database) -> None:
    """Apply the missing migrations; several processes may do this at once, one of them works."""
    with database.migration() as connection:
        options = {"version_table": VERSION_TABLE}
        present = MigrationContext.configure(connection, opts=options).get_current_revision()
        refuse_unknown(present)
        if present != HEAD:
            settings = alembic_config()
            settings.attributes["connection"] = connection
            command.upgrade(settings, "head")


def alembic_config() -> Config:
    """Where Alembic finds the migrations, wherever the package is installed."""
    settings = Config()
    folder = Path(__file__).parent / "migrations"
    settings.set_main_option("script_location", str(folder).replace("%", "%%"))
    return settings
