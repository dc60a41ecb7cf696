"""Names that people give to their conversations."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("session", sa.Column("title", sa.String(200), nullable=False, server_default=""))
