"""What judges replied, so that nothing is asked twice, and what people said of answers."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_table(
        "lab_reply",
        sa.Column(
            "run_id",
            sa.String(16),
            sa.ForeignKey("lab_run.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("model", sa.String(200), nullable=False),
        sa.Column("reply", sa.Text, nullable=False),
        sa.Column("tokens_in", sa.Integer, nullable=False),
        sa.Column("tokens_out", sa.Integer, nullable=False),
        sa.Column("price", sa.Float, nullable=True),
    )
    op.create_index("ix_lab_reply_key", "lab_reply", ["key"])
    op.create_table(
        "answer_feedback",
        sa.Column("answer_id", sa.String(64), primary_key=True),
        sa.Column("rater", sa.String(200), primary_key=True),
        sa.Column("thumb", sa.Integer, nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
    )
