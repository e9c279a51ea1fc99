"""Runs the migrations on the connection that `headwater.store.migrate` hands in."""

from __future__ import annotations

from alembic import context

from headwater.store.revisions import VERSION_TABLE

connection = context.config.attributes["connection"]
context.configure(connection=connection, version_table=VERSION_TABLE, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
