"""Accounts, browsers that have signed in, keys of programs, and versions of prompts."""

from sqlalchemy import Boolean, Column, Float, ForeignKey, Integer, String, Table, Text

from ombud.store.tables import metadata

# Who can sign in, or whom tokens speak for.
account = Table(
    "account",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    # Argon2; empty = none.
    Column("password", String(200), nullable=False, default=""),
    # Digest of an OpenID Connect provider's issuer and subject; NULL = of our own.
    Column("subject", String(64), nullable=True, unique=True),
    # Person and duties as JSON.
    Column("person", Text, nullable=False),
    Column("duties", Text, nullable=False),
    Column("disabled", Boolean, nullable=False, default=False),
    Column("at", String(32), nullable=False),
)

# Browsers that have signed in.
login = Table(
    "login",
    metadata,
    # Digest of the cookie.
    Column("digest", String(64), primary_key=True),
    Column(
        "account_id",
        String(36),
        ForeignKey("account.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    # Seconds since 1970.
    Column("expires", Float, nullable=False),
)

# Keys of programs.
token = Table(
    "token",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("name", String(200), nullable=False),
    Column(
        "account_id",
        String(36),
        ForeignKey("account.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    # JSON list.
    Column("rights", Text, nullable=False),
    Column("at", String(32), nullable=False),
    # Days; empty = none.
    Column("until", String(10), nullable=False, default=""),
    Column("last_used", String(10), nullable=False, default=""),
)

# Words for models that people have written here; those that count are files of the workspace.
prompt_version = Table(
    "prompt_version",
    metadata,
    # Task and variant, such as compose/gpt-4.1.
    Column("name", String(100), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
    # Mark of who wrote it.
    Column("by", String(40), nullable=False),
    Column("at", String(32), nullable=False),
)
