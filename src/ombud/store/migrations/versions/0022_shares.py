"""Links by which colleagues open a conversation."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.create_table(
        "share",
        sa.Column(
            "conversation_id",
            sa.String(36),
            sa.ForeignKey("conversation.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("secret", sa.String(64), nullable=False, unique=True),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
    )
