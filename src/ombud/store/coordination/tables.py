"""Generations of indexes, and writes to an index that are not known to have ended."""

from sqlalchemy import BigInteger, Column, Float, String, Table

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
