"""People who sign in, their browsers, keys of programs; versions of prompts."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.create_table(
        "account",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("password", sa.String(200), nullable=False),
        sa.Column("subject", sa.String(64), nullable=True),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("duties", sa.Text, nullable=False),
        sa.Column("disabled", sa.Boolean, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_account"),
        sa.UniqueConstraint("name", name="uq_account_name"),
        sa.UniqueConstraint("subject", name="uq_account_subject"),
    )
    op.create_table(
        "login",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(36), nullable=False),
        sa.Column("expires", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_login"),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name="fk_login_account_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_login_account_id", "login", ["account_id"])
    op.create_table(
        "token",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("account_id", sa.String(36), nullable=False),
        sa.Column("rights", sa.Text, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("until", sa.String(10), nullable=False),
        sa.Column("last_used", sa.String(10), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_token"),
        sa.UniqueConstraint("digest", name="uq_token_digest"),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name="fk_token_account_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_token_account_id", "token", ["account_id"])
    op.create_table(
        "prompt_version",
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("by", sa.String(40), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("name", "number", name="pk_prompt_version"),
    )
