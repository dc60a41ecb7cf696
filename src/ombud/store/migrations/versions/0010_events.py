"""Conversations as events, and their delivery to desks. What was a message becomes an event
(`store/audit/moving.py`), so that the audit's chain says where it went."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    _create_log()
    _create_presence()
    _create_delivery()


def _create_log() -> None:
    op.create_table(
        "event",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("id", sa.String(36), nullable=False, unique=True),
        sa.Column(
            "conversation_id",
            sa.String(36),
            sa.ForeignKey("conversation.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("by", sa.String(16), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("key", sa.String(64), nullable=True),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("salt", sa.String(64), nullable=False, server_default=""),
        sa.Column("record", sa.Integer, nullable=True),
        sa.Column("erased", sa.Integer, nullable=True),
        sa.Index("uq_event_conversation_id_place", "conversation_id", "place", unique=True),
        sa.Index("uq_event_conversation_id_key", "conversation_id", "key", unique=True),
    )
    op.create_table(
        "session",
        sa.Column(
            "conversation_id",
            sa.String(36),
            sa.ForeignKey("conversation.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("owner", sa.String(64), nullable=False, server_default=""),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("desk", sa.String(100), nullable=False, server_default=""),
        sa.Column("last", sa.Integer, nullable=False, server_default="0"),
        sa.Column("session", sa.Text, nullable=False),
    )
    op.create_index("ix_session_owner", "session", ["owner"])
    op.create_index("ix_session_state", "session", ["state"])
    op.create_table(
        "unsealed",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("name", sa.String(20), nullable=False),
        sa.Column("row_id", sa.String(36), nullable=False),
        sa.Column("setup", sa.String(64), nullable=False, server_default=""),
    )


def _create_presence() -> None:
    op.create_table(
        "signal",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("conversation_id", sa.String(36), nullable=False),
        sa.Column("by", sa.String(16), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("is_typing", sa.Boolean, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )
    op.create_table(
        "presence",
        sa.Column("advisor_id", sa.String(100), primary_key=True),
        sa.Column("seen", sa.Float, nullable=False),
        sa.Column("away", sa.Boolean, nullable=False, server_default=sa.false()),
    )


def _create_delivery() -> None:
    op.create_table(
        "line",
        sa.Column("ticket_id", sa.String(36), primary_key=True),
        sa.Column(
            "conversation_id",
            sa.String(36),
            sa.ForeignKey("conversation.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("desk", sa.String(100), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("memory", sa.Text, nullable=False),
        sa.Column("cursor", sa.Text, nullable=False, server_default=""),
    )
    op.create_index("ix_line_conversation_id", "line", ["conversation_id"])
    op.create_index("ix_line_state", "line", ["state"])
    op.create_table(
        "outbox",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column(
            "ticket_id",
            sa.String(36),
            sa.ForeignKey("line.ticket_id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("event_id", sa.String(36), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
        sa.Column("due", sa.Float, nullable=False, server_default="0"),
        sa.Column("error", sa.Text, nullable=False, server_default=""),
        sa.Index("ix_outbox_ticket_id_number", "ticket_id", "number"),
        sa.Index("ix_outbox_state_due", "state", "due"),
    )
    op.create_table(
        "inbox",
        sa.Column(
            "ticket_id",
            sa.String(36),
            sa.ForeignKey("line.ticket_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("entry_id", sa.String(200), primary_key=True),
        sa.Column("event_id", sa.String(36), nullable=True),
    )
