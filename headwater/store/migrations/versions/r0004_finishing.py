"""Which grant of a view's claim has come to its commit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("hw_claim", sa.Column("finishing", sa.BigInteger))


def downgrade() -> None:
    op.drop_column("hw_claim", "finishing")
