"""What each technique was expected to take, beside what the chosen one took."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    column = sa.Column("forecast", sa.Text, nullable=False, server_default="{}")
    op.add_column("hw_attempt", column)


def downgrade() -> None:
    op.drop_column("hw_attempt", "forecast")
