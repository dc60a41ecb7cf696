"""Generations of indexes, and writes to an index that are not known to have ended."""

from sqlalchemy import BigInteger, Column, Float, Integer, LargeBinary, String, Table, Text

from ombud.store.tables import metadata

# Which generations of an index there are, and which one counts.
index_generation = Table(
    "index_generation",
    metadata,
    # index.url; empty = the folder of the workspace.
    Column("place", String(500), primary_key=True),
    Column("name", String(40), primary_key=True),
    # live | before | draft | gone (to be removed)
    Column("state", String(16), nullable=False),
)

# A document that a sync has begun to write into the index: gone with the row that it ends with.
index_write = Table(
    "index_write",
    metadata,
    Column("document_id", String(16), primary_key=True),
    # Of the lease that it was begun under.
    Column("fence", BigInteger, primary_key=True),
    # Seconds since 1970 by the database's clock.
    Column("at", Float, nullable=False),
)

# Documents that a sync has read and that processes of `ombud work` parse and embed.
work = Table(
    "work",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    # Of the sync's lease: what an earlier one has left is thrown away.
    Column("fence", BigInteger, nullable=False),
    # Digest of embedder and settings; a process with others leaves it alone.
    Column("recipe", String(64), nullable=False),
    # Metadata of the document as JSON, and its bytes.
    Column("facts", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
    # waiting | taken | done | failed
    Column("state", String(16), nullable=False, index=True),
    # Grows with every process that takes it: only the last one's result counts.
    Column("claim", Integer, nullable=False, default=0),
    # Seconds since 1970 by the database's clock.
    Column("expires", Float, nullable=False, default=0.0),
    Column("result", LargeBinary, nullable=True),
    # Why it failed.
    Column("reason", Text, nullable=False, default=""),
)
