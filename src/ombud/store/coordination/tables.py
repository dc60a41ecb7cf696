"""Tables of index generations, and of index writes that may not have ended."""

from sqlalchemy import BigInteger, Column, Float, Integer, LargeBinary, String, Table, Text

from ombud.store.tables import metadata

# Generations of indexes, and which one is live.
index_generation = Table(
    "index_generation",
    metadata,
    # index.url; empty = the folder of the workspace.
    Column("place", String(500), primary_key=True),
    Column("name", String(40), primary_key=True),
    # live | before | draft | gone (to be removed)
    Column("state", String(16), nullable=False),
)

# Documents that a sync has begun to write into the index; removed with its end.
index_write = Table(
    "index_write",
    metadata,
    Column("document_id", String(16), primary_key=True),
    # Fencing token of the sync's lease.
    Column("fence", BigInteger, primary_key=True),
    # Seconds since 1970 by the database's clock.
    Column("at", Float, nullable=False),
)

# Documents that a sync has read and that processes of `ombud work` parse and embed.
work = Table(
    "work",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    # Fencing token of the sync's lease; rows of earlier syncs are discarded.
    Column("fence", BigInteger, nullable=False),
    # Digest of embedder and settings; only processes with the same take it.
    Column("recipe", String(64), nullable=False),
    # Metadata of the document as JSON, and its bytes.
    Column("facts", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
    # waiting | taken | done | failed
    Column("state", String(16), nullable=False, index=True),
    # Grows with every claim: only the last one's result counts.
    Column("claim", Integer, nullable=False, default=0),
    # Seconds since 1970 by the database's clock.
    Column("expires", Float, nullable=False, default=0.0),
    Column("result", LargeBinary, nullable=True),
    # Why it failed.
    Column("reason", Text, nullable=False, default=""),
)
