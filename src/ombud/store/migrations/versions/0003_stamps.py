"""Stamps of documents, so that a sync reads only what has changed; progress of long jobs."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    with op.batch_alter_table("document") as document:
        document.add_column(sa.Column("stamp", sa.String(64), nullable=False, server_default=""))
    op.create_table(
        "progress",
        sa.Column("job", sa.String(100), primary_key=True),
        sa.Column("said", sa.Text, nullable=False),
    )
