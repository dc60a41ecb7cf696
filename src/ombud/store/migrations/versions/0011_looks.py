"""Which cases each look at a sealed split has seen."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("lab_look", sa.Column("cases", sa.Text, nullable=False, server_default=""))
