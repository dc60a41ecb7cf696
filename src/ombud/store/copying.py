"""Copies documents or everything from one store to another."""

import json
from hashlib import sha256

from sqlalchemy import Connection, Table, delete, func, insert, select, text

from ombud.errors import StoreError
from ombud.store.coordination.tables import index_generation, index_write, work
from ombud.store.database import Store
from ombud.store.queries import batches
from ombud.store.tables import (
    audit,
    glossary,
    graph_document,
    graph_name,
    graph_same,
    graph_triplet,
    lease,
    metadata,
    presence,
    progress,
    signal,
)
from ombud.store.tables import document as documents
from ombud.store.tables import text as texts

BATCH = 200
TRANSIENT_TABLES = {
    index_generation.name,
    index_write.name,
    lease.name,
    presence.name,
    progress.name,
    signal.name,
    work.name,
}
"""Tables of current activity and of the present index, which are useless in a copy."""
WHOLE = (documents, glossary, graph_document, graph_triplet, graph_name, graph_same)


def copy_library(store: Store, other: Store) -> None:
    """Copy documents with the text of their present version, abbreviations and triplets, from one
    snapshot. `other` must have none."""
    present = documents.c.id == texts.c.document_id
    is_present = present & (documents.c.digest == texts.c.digest)
    with store.read() as db, other.write() as copied:
        for table in WHOLE:
            copy_rows(db, copied, table, select(table))
        copy_rows(db, copied, texts, select(texts).join(documents, is_present))


def copy_rows(db: Connection, copied: Connection, table: Table, query: object) -> None:
    rows = [dict(row._mapping) for row in db.execute(query)]  # type: ignore[call-overload]
    for some in batches(rows, BATCH):
        copied.execute(insert(table), list(some))


def copy_store(store: Store, other: Store) -> dict[str, int]:
    """Copy everything from one snapshot; returns table -> rows. Raises StoreError if `other` has
    rows or either database fails."""
    rows: dict[str, int] = {}
    with store.read() as db, other.write() as copied:
        for table in tables_to_copy():
            check_empty(copied, table)
        copied.execute(delete(audit))  # the copy brings the chain of `store`
        for table in tables_to_copy():
            rows[table.name] = 0
            result = db.execute(select(table).execution_options(yield_per=BATCH))
            for some in result.partitions():
                copied.execute(insert(table), [dict(row._mapping) for row in some])
                rows[table.name] += len(some)
            advance_sequence(copied, table)
    return rows


def count_rows(store: Store) -> dict[str, int]:
    """Return table -> rows of everything that is copied."""
    rows: dict[str, int] = {}
    with store.read() as db:
        for table in tables_to_copy():
            rows[table.name] = count_table(db, table)
    return rows


def compare_stores(store: Store, other: Store) -> dict[str, int]:
    """Return table -> rows that differ between the stores; empty if they are equal."""
    differing: dict[str, int] = {}
    with store.read() as db, other.read() as copied:
        for table in tables_to_copy():
            different = row_digests(db, table) ^ row_digests(copied, table)
            if different:
                differing[table.name] = len(different)
    return differing


def row_digests(db: Connection, table: Table) -> set[bytes]:
    """Return the digests of the rows; a set, because databases order text differently."""
    digests: set[bytes] = set()
    for row in db.execute(select(table).execution_options(yield_per=BATCH)):
        digests.add(sha256(json.dumps(list(row), default=str, sort_keys=True).encode()).digest())
    return digests


def tables_to_copy() -> list[Table]:
    """Return the tables to copy, referenced ones first."""
    return [table for table in metadata.sorted_tables if table.name not in TRANSIENT_TABLES]


def count_table(db: Connection, table: Table) -> int:
    return int(db.execute(select(func.count()).select_from(table)).scalar() or 0)


def check_empty(db: Connection, table: Table) -> None:
    begun = 1 if table is audit else 0
    if count_table(db, table) > begun:
        raise StoreError(
            f"The database to copy into is not empty: its table `{table.name}` has rows.",
            hint="Name an empty one in store.url.",
        )


def advance_sequence(db: Connection, table: Table) -> None:
    """Move PostgreSQL's sequences past the copied numbers."""
    column = table.autoincrement_column
    if db.dialect.name != "postgresql" or column is None:
        return
    sequence = f"pg_get_serial_sequence('{table.name}', '{column.name}')"
    highest = f"(SELECT max({column.name}) FROM {table.name})"
    there = f"{sequence} IS NOT NULL AND EXISTS (SELECT 1 FROM {table.name})"
    db.execute(text(f"SELECT setval({sequence}, {highest}) WHERE {there}"))
