"""Refreshes that did something are found among any number of those that had nothing to do."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_MEASURED = sa.text("state = 'succeeded' AND technique <> 'skip' AND forecast <> '{}'")
_INDEXES = {
    "hw_attempt_measured": ["started_at", "id"],
    "hw_attempt_measured_by_view": ["view", "started_at", "id"],
}


def upgrade() -> None:
    for name, columns in _INDEXES.items():
        op.create_index(
            name, "hw_attempt", columns, sqlite_where=_MEASURED, postgresql_where=_MEASURED
        )


def downgrade() -> None:
    for name in _INDEXES:
        op.drop_index(name, "hw_attempt")
