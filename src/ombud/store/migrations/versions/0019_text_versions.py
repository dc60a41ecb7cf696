"""Distinguishes texts by the version of the parsers that made them, and adds annotations."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    # SQLite cannot change a primary key, and PostgreSQL keeps the name of one with a renamed table.
    op.execute("CREATE TABLE old_document_text AS SELECT * FROM document_text")
    op.drop_table("document_text")
    op.create_table(
        "document_text",
        sa.Column("document_id", sa.String(16), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("parser", sa.String(20), nullable=False, server_default=""),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("blocks", sa.JSON, nullable=False),
        sa.Column("annotations", sa.JSON, nullable=False, server_default="[]"),
        sa.Column("at", sa.String(32), nullable=False, server_default=""),
        sa.PrimaryKeyConstraint("document_id", "digest", "parser", name="pk_document_text"),
    )
    columns = "document_id, digest, text, blocks, at"
    op.execute(f"INSERT INTO document_text ({columns}) SELECT {columns} FROM old_document_text")
    op.drop_table("old_document_text")
