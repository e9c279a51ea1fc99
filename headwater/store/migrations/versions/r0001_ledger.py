"""The first ledger: definitions, statements, sources, views, claims, attempts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

STAMP = sa.String(27).with_variant(sa.String(27, collation="C"), "postgresql")
"""UTC as text of fixed width; compared byte by byte whatever the database's language is."""

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    _create_definitions()
    _create_sources()
    _create_views()
    _create_claims()
    _create_attempts()


def _create_definitions() -> None:
    op.create_table(
        "hw_definition",
        sa.Column("kind", NAME, primary_key=True),
        sa.Column("name", NAME, primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("file", sa.Text, nullable=False),
        sa.Column("line", sa.Integer, nullable=False),
        sa.Column("column_no", sa.Integer, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("updated_at", STAMP, nullable=False),
    )
    op.create_table(
        "hw_statement",
        sa.Column("statement_no", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("text", sa.Text, nullable=False),
    )


def _create_sources() -> None:
    op.create_table(
        "hw_source",
        sa.Column("name", NAME, primary_key=True),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("table_id", sa.Text),
        sa.Column("seen_version", sa.BigInteger),
        sa.Column("facts", sa.Text, nullable=False),
        sa.Column("updated_at", STAMP, nullable=False),
    )


def _create_views() -> None:
    op.create_table(
        "hw_view",
        sa.Column("name", NAME, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("table_id", sa.Text),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("compiled", sa.Text, nullable=False),
        sa.Column("frontier", sa.Text, nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        sa.Column("table_version", sa.BigInteger),
        sa.Column("checked_version", sa.BigInteger),
        sa.Column("created_at", STAMP, nullable=False),
        sa.Column("updated_at", STAMP, nullable=False),
    )


def _create_claims() -> None:
    op.create_table(
        "hw_claim",
        sa.Column("view", NAME, primary_key=True),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("attempt", sa.Text),
        sa.Column("host", sa.Text),
        sa.Column("boot", sa.Text),
        sa.Column("pid", sa.BigInteger),
        sa.Column("process_started", sa.Text),
        sa.Column("limit_seconds", sa.Double, nullable=False),
        sa.Column("claimed_at", STAMP, nullable=False),
        sa.Column("renewed_at", STAMP, nullable=False),
    )


def _create_attempts() -> None:
    op.create_table(
        "hw_attempt",
        sa.Column("id", NAME, primary_key=True),
        sa.Column("view", NAME, nullable=False),
        sa.Column("job", NAME, nullable=False),
        sa.Column("manual", sa.Boolean, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("technique", sa.Text),
        sa.Column("started_at", STAMP, nullable=False),
        sa.Column("ended_at", STAMP),
        sa.Column("heartbeat_at", STAMP, nullable=False),
        sa.Column("delay_seconds", sa.Double),
        sa.Column("seconds", sa.Double),
        sa.Column("rows_inserted", sa.BigInteger),
        sa.Column("rows_deleted", sa.BigInteger),
        sa.Column("sequence", sa.BigInteger),
        sa.Column("table_version", sa.BigInteger),
        sa.Column("frontier_before", sa.Text, nullable=False),
        sa.Column("frontier_after", sa.Text),
        sa.Column("reasons", sa.Text, nullable=False),
        sa.Column("profile", sa.Text, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("cancel_requested_by", sa.Text),
        sa.Column("cancel_requested_at", STAMP),
    )
    op.create_index("hw_attempt_by_time", "hw_attempt", ["started_at", "id"])
    op.create_index("hw_attempt_by_view", "hw_attempt", ["view", "started_at", "id"])
    op.create_index("hw_attempt_by_state", "hw_attempt", ["state", "started_at", "id"])
