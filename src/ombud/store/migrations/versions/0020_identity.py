"""Adds people and groups of a directory (SCIM), rules of groups, sessions at a provider, and values
that count once."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.create_table(
        "directory_user",
        account_key(primary_key=True),
        sa.Column("user_name", sa.String(200), nullable=False, unique=True),
        sa.Column("external_id", sa.String(200), nullable=False, index=True),
        sa.Column("manager_id", sa.String(200), nullable=False, index=True),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("removed", sa.Boolean, nullable=False),
        sa.Column("resource", sa.Text, nullable=False),
        sa.Column("claims", sa.Text, nullable=False),
        *version_columns(),
    )
    op.create_table(
        "directory_group",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("external_id", sa.String(200), nullable=False),
        *version_columns(),
    )
    op.create_table(
        "directory_member",
        sa.Column(
            "group_id",
            sa.String(36),
            sa.ForeignKey("directory_group.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        account_key(primary_key=True, index=True),
    )
    op.create_table(
        "group_rule",
        sa.Column("id", sa.String(200), primary_key=True),
        sa.Column("roles", sa.Text, nullable=False),
        sa.Column("audiences", sa.Text, nullable=False),
        sa.Column("duties", sa.Text, nullable=False),
    )
    op.create_table(
        "single_use",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("login", sa.String(64), nullable=False),
        sa.Column("expires", sa.Float, nullable=False),
    )
    for name, kind in (
        ("session", sa.String(200)),
        ("subject", sa.String(200)),
        ("proof", sa.Text),
    ):
        op.add_column("login", sa.Column(name, kind, nullable=False, server_default=""))


def account_key(*, primary_key: bool, index: bool = False) -> sa.Column[str]:
    return sa.Column(
        "account_id",
        sa.String(36),
        sa.ForeignKey("account.id", ondelete="CASCADE"),
        primary_key=primary_key,
        index=index,
    )


def version_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("modified", sa.String(32), nullable=False),
    ]
