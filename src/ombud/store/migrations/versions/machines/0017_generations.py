"""Generations of the index as rows, and writes to an index that have not ended."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "index_generation",
        sa.Column("place", sa.String(500), nullable=False),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("place", "name", name="pk_index_generation"),
    )
    op.create_table(
        "index_write",
        sa.Column("document_id", sa.String(16), nullable=False),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("document_id", "fence", name="pk_index_write"),
    )
