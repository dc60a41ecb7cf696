"""When each version of a document was first read."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column(
        "document_text", sa.Column("at", sa.String(32), nullable=False, server_default="")
    )
