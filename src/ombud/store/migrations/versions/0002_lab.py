"""Runs of the lab."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "lab_run",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("name", sa.String(200), nullable=False, index=True),
        sa.Column("digest", sa.String(64), nullable=False, index=True),
        sa.Column("study", sa.String(200), nullable=False, index=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("started", sa.String(32), nullable=False),
        sa.Column("run", sa.Text, nullable=False),
    )
    op.create_table(
        "lab_row",
        _run(),
        sa.Column("place", sa.Integer, primary_key=True),
        sa.Column("case_id", sa.Text, nullable=False),
        sa.Column("failed", sa.Boolean, nullable=False),
        sa.Column("observation", sa.Text, nullable=False),
        sa.Column("hits", sa.Text, nullable=True),
    )
    op.create_table(
        "lab_score",
        _run(),
        sa.Column("place", sa.Integer, primary_key=True),
        sa.Column("metric", sa.String(100), primary_key=True),
        sa.Column("by", sa.String(200), primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("value", sa.Float, nullable=True),
        sa.Column("reason", sa.Text, nullable=False),
    )
    op.create_table(
        "lab_passage",
        sa.Column("chunk_id", sa.Text, primary_key=True),
        sa.Column("document_id", sa.Text, nullable=False, index=True),
        sa.Column("chunk", sa.Text, nullable=False),
    )
    op.create_table(
        "lab_look",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("dataset", sa.Text, nullable=False),
        sa.Column("dataset_digest", sa.String(64), nullable=False, index=True),
        sa.Column("run_id", sa.String(16), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
    )


def _run() -> sa.Column[str]:
    return sa.Column(
        "run_id", sa.String(16), sa.ForeignKey("lab_run.id", ondelete="CASCADE"), primary_key=True
    )
