"""Conversations that their owner keeps at the top of the list."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.add_column(
        "session", sa.Column("pinned", sa.Boolean, nullable=False, server_default=sa.false())
    )
