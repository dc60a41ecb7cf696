"""What models cost, a row a day and model."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "spending",
        sa.Column("day", sa.String(10), primary_key=True),
        sa.Column("model", sa.String(200), primary_key=True),
        sa.Column("calls", sa.Integer, nullable=False),
        sa.Column("tokens_in", sa.BigInteger, nullable=False),
        sa.Column("tokens_out", sa.BigInteger, nullable=False),
        sa.Column("price", sa.Float, nullable=False),
    )
