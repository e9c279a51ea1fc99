"""How many refreshes ran at the same time: what one took alone says little of a crowd."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    column = sa.Column("concurrency", sa.Float, nullable=False, server_default="1")
    op.add_column("hw_attempt", column)


def downgrade() -> None:
    op.drop_column("hw_attempt", "concurrency")
