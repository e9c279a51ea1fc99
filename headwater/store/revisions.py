"""The revisions of the schema that this code knows, so that a ledger is checked by one SELECT.

Alembic is loaded only when there is something to migrate.
"""

from __future__ import annotations

from headwater.vocabulary.errors import LedgerTooNew

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006")
"""All revisions, oldest first; the last one is what this code reads and writes."""

HEAD = REVISIONS[-1]
VERSION_TABLE = "hw_revision"

MIGRATION_WAIT_SECONDS = 30.0
"""How long to wait for another process that is migrating the same ledger."""


def refuse_unknown(present: str | None) -> None:
    """Stop at a ledger that a newer Headwater has migrated: its rows may mean something else."""
    if present is not None and present not in REVISIONS:
        raise LedgerTooNew(
            f"the ledger is at revision {present}, this Headwater knows revisions up to {HEAD}"
        )
