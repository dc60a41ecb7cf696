"""Abbreviations that documents explain."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "glossary",
        sa.Column("document_id", sa.String(16), primary_key=True),
        sa.Column("abbreviation", sa.String(20), primary_key=True),
        sa.Column("expansion", sa.String(200), primary_key=True),
    )
