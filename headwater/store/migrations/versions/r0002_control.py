"""The control plane: marks, leases, runners, jobs, commands, alerts, events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

STAMP = sa.String(27).with_variant(sa.String(27, collation="C"), "postgresql")
"""UTC as text of fixed width; compared byte by byte whatever the database's language is."""

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

GROWING = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""A number that the database hands out, never twice."""


def upgrade() -> None:
    _create_leases()
    _create_runners()
    _create_jobs()
    _create_commands()
    _create_events()


def _create_leases() -> None:
    op.create_table(
        "hw_mark",
        sa.Column("name", NAME, primary_key=True),
        sa.Column("value", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "hw_lease",
        sa.Column("name", NAME, primary_key=True),
        sa.Column("term", sa.BigInteger, nullable=False),
        sa.Column("beat", sa.BigInteger, nullable=False),
        sa.Column("holder", NAME),
        sa.Column("granted_at", STAMP, nullable=False),
        sa.Column("renewed_at", STAMP, nullable=False),
    )


def _create_runners() -> None:
    op.create_table(
        "hw_runner",
        sa.Column("id", NAME, primary_key=True),
        sa.Column("address", NAME, nullable=False, unique=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("beat", sa.BigInteger, nullable=False),
        sa.Column("slots", sa.Integer, nullable=False),
        sa.Column("running", sa.Integer, nullable=False),
        sa.Column("registered_at", STAMP, nullable=False),
        sa.Column("reported_at", STAMP, nullable=False),
    )


def _create_jobs() -> None:
    op.create_table(
        "hw_job",
        sa.Column("id", GROWING, primary_key=True, autoincrement=True),
        sa.Column("account", NAME, nullable=False),
        sa.Column("subject", NAME, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("placed_by", NAME, nullable=False),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("should_run", sa.Boolean, nullable=False),
        sa.Column("paused", sa.Boolean, nullable=False),
        sa.Column("scan", sa.Boolean, nullable=False),
        sa.Column("owner", NAME),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        sa.Column("next_at", STAMP),
        sa.Column("retry", sa.Text),
        sa.Column("last_start", STAMP),
        sa.Column("last_success", STAMP),
        sa.Column("misses", sa.BigInteger, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("watermark", STAMP),
        sa.Column("registered_at", STAMP, nullable=False),
        sa.Column("dropped_at", STAMP),
        sa.UniqueConstraint("account", "subject", "name"),
        sqlite_autoincrement=True,
    )
    op.create_index("hw_job_by_owner", "hw_job", ["owner", "kind", "id"])
    op.create_index("hw_job_by_name", "hw_job", ["name"])


def _create_commands() -> None:
    op.create_table(
        "hw_command",
        sa.Column("id", GROWING, primary_key=True, autoincrement=True),
        sa.Column("runner", NAME, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("job", sa.BigInteger, nullable=False),
        sa.Column("term", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("detail", sa.Text),
        sa.Column("created_at", STAMP, nullable=False),
        sa.Column("taken_at", STAMP),
        sa.Column("ended_at", STAMP),
        sqlite_autoincrement=True,
    )
    pending = sa.text("ended_at IS NULL")
    op.create_index(
        "hw_command_pending",
        "hw_command",
        ["runner", "job", "kind"],
        unique=True,
        sqlite_where=pending,
        postgresql_where=pending,
    )
    op.create_index("hw_command_by_end", "hw_command", ["ended_at", "id"])


def _create_events() -> None:
    op.create_table(
        "hw_alert",
        sa.Column("subject", NAME, primary_key=True),
        sa.Column("kind", NAME, primary_key=True),
        sa.Column("level", sa.Text, nullable=False),
        sa.Column("changed_at", STAMP, nullable=False),
    )
    op.create_table(
        "hw_event",
        sa.Column("id", GROWING, primary_key=True, autoincrement=True),
        sa.Column("at", STAMP, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("subject", NAME, nullable=False),
        sa.Column("level", sa.Text, nullable=False),
        sa.Column("what", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("hw_event_by_subject", "hw_event", ["subject", "id"])
