"""What chat models thought before they answered."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "reasoning",
        sa.Column(
            "answer_id",
            sa.String(36),
            sa.ForeignKey("answer.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("text", sa.Text, nullable=False),
    )
