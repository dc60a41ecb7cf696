"""How far judges agree with people, metric by metric."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "lab_alignment",
        sa.Column("metric", sa.String(200), primary_key=True),
        sa.Column("judge", sa.String(200), primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("criterion", sa.String(200), nullable=False),
        sa.Column("items", sa.Integer, nullable=False),
        sa.Column("spearman", sa.Float, nullable=True),
    )
