"""The graph of triplets."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "graph_document",
        sa.Column("document_id", sa.String(16), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("chunks", sa.Text, nullable=False),
    )
    op.create_table(
        "graph_triplet",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("document_id", sa.String(16), nullable=False, index=True),
        sa.Column("chunk_id", sa.String(64), nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("predicate", sa.Text, nullable=False),
        sa.Column("object", sa.Text, nullable=False),
        sa.Column("subject_key", sa.String(200), nullable=False),
        sa.Column("object_key", sa.String(200), nullable=False),
    )
    for end in ("subject_key", "object_key"):
        columns = [end, "document_id", "chunk_id"]
        op.create_index(f"ix_graph_triplet_{'_'.join(columns)}", "graph_triplet", columns)
    op.create_table(
        "graph_name",
        sa.Column("document_id", sa.String(16), primary_key=True),
        sa.Column("name", sa.String(200), primary_key=True, index=True),
        sa.Column("key", sa.String(200), primary_key=True),
        sa.Column("weight", sa.Float, nullable=False),
    )
    op.create_table(
        "graph_same",
        sa.Column("key", sa.String(200), primary_key=True),
        sa.Column("other", sa.String(200), primary_key=True),
    )
