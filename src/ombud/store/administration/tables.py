"""Tables of accounts, logins, API keys and prompt versions."""

from sqlalchemy import Boolean, Column, Float, ForeignKey, Integer, String, Table, Text

from ombud.store.tables import metadata

# Accounts that can sign in or that tokens act for.
account = Table(
    "account",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    # Argon2; empty = none.
    Column("password", String(200), nullable=False, default=""),
    # Digest of an OpenID Connect provider's issuer and subject; NULL = local account.
    Column("subject", String(64), nullable=True, unique=True),
    # Person and duties as JSON.
    Column("person", Text, nullable=False),
    Column("duties", Text, nullable=False),
    Column("disabled", Boolean, nullable=False, default=False),
    Column("at", String(32), nullable=False),
)

# Browser logins.
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
    # The provider's names for the session (sid) and the person (sub), and its id token.
    Column("session", String(200), nullable=False, server_default=""),
    Column("subject", String(200), nullable=False, server_default=""),
    Column("proof", Text, nullable=False, server_default=""),
)

# API keys.
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

# Versions of prompts; the active ones are files of the workspace.
prompt_version = Table(
    "prompt_version",
    metadata,
    # Task and variant, such as compose/gpt-4.1.
    Column("name", String(100), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
    # Pseudonym of the author.
    Column("by", String(40), nullable=False),
    Column("at", String(32), nullable=False),
)

# People of a directory that provisions accounts by SCIM.
directory_user = Table(
    "directory_user",
    metadata,
    Column(
        "account_id", String(36), ForeignKey("account.id", ondelete="CASCADE"), primary_key=True
    ),
    # Lower case; the account's id once the directory has removed the person.
    Column("user_name", String(200), nullable=False, unique=True),
    Column("external_id", String(200), nullable=False, index=True),
    Column("manager_id", String(200), nullable=False, index=True),
    # As the directory wants it; whether the account is disabled may differ by hand.
    Column("active", Boolean, nullable=False),
    Column("removed", Boolean, nullable=False),
    # Resource as JSON, and the person as their claims described them at the last sign-in.
    Column("resource", Text, nullable=False),
    Column("claims", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("created", String(32), nullable=False),
    Column("modified", String(32), nullable=False),
)

# Groups of a directory.
directory_group = Table(
    "directory_group",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("external_id", String(200), nullable=False),
    Column("version", Integer, nullable=False),
    Column("created", String(32), nullable=False),
    Column("modified", String(32), nullable=False),
)

directory_member = Table(
    "directory_member",
    metadata,
    Column(
        "group_id",
        String(36),
        ForeignKey("directory_group.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    Column(
        "account_id",
        String(36),
        ForeignKey("account.id", ondelete="CASCADE"),
        primary_key=True,
        index=True,
    ),
)

# What membership of a group gives; lists as JSON.
group_rule = Table(
    "group_rule",
    metadata,
    Column("id", String(200), primary_key=True),
    Column("roles", Text, nullable=False),
    Column("audiences", Text, nullable=False),
    Column("duties", Text, nullable=False),
)

# Digests of values that count once: logout tokens that came, and codes by which a frame signs in,
# with the digest of the login that they stand for.
single_use = Table(
    "single_use",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("login", String(64), nullable=False),
    Column("expires", Float, nullable=False),
)
