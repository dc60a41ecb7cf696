"""Costs of models by person and by group, for their daily budgets."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_table(
        "own_spending",
        sa.Column("day", sa.String(10), primary_key=True),
        sa.Column("owner", sa.String(64), primary_key=True),
        sa.Column("price", sa.Float, nullable=False),
    )
