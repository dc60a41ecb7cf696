"""The first shape."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "source",
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("country", sa.String(2), nullable=False),
    )
    op.create_table(
        "document",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("source", sa.String(200), nullable=False, index=True),
        sa.Column("uri", sa.Text, nullable=False, unique=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("facts_digest", sa.String(64), nullable=False),
        sa.Column("recipe", sa.String(64), nullable=False),
        sa.Column("facts", sa.JSON, nullable=False),
        sa.Column("own_end", sa.String(10), nullable=True),
        sa.Column("chunks", sa.Integer, nullable=False),
        sa.Column("deleted", sa.Boolean, nullable=False),
    )
    op.create_table(
        "document_text",
        sa.Column("document_id", sa.String(16), primary_key=True),
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("blocks", sa.JSON, nullable=False),
    )
    _conversations()
    op.create_table(
        "lease",
        sa.Column("name", sa.String(100), primary_key=True),
        sa.Column("owner", sa.String(200), nullable=False),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("expires", sa.Float, nullable=False),
    )


def _conversations() -> None:
    op.create_table(
        "conversation",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("person", sa.JSON, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
    )
    op.create_table(
        "message",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(36), nullable=False, unique=True),
        sa.Column(
            "conversation_id",
            sa.String(36),
            sa.ForeignKey("conversation.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
    )
    op.create_index("ix_message_conversation_id_number", "message", ["conversation_id", "number"])
    op.create_table(
        "answer",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("conversation_id", sa.String(36), nullable=True, index=True),
        sa.Column("question", sa.JSON, nullable=False),
        sa.Column("answer", sa.JSON, nullable=False),
        sa.Column("at", sa.String(32), nullable=False, index=True),
    )
