"""The audit's chain. What stands in the store already is taken into it when it begins
(`store/audit/chain.py`)."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    for name in ("answer", "conversation", "message"):
        with op.batch_alter_table(name) as table:
            table.add_column(sa.Column("salt", sa.String(64), nullable=False, server_default=""))
            table.add_column(sa.Column("record", sa.Integer, nullable=True))
            table.add_column(sa.Column("erased", sa.Integer, nullable=True))
    with op.batch_alter_table("answer") as answer:
        answer.add_column(
            sa.Column("sensitive", sa.Boolean, nullable=False, server_default=sa.false())
        )
    op.create_table(
        "audit",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("record", sa.Text, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    op.create_table(
        "setup",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("content", sa.Text, nullable=False),
    )
