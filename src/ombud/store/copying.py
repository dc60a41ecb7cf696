"""What one store knows of documents, laid into another: so that a copy of the index has its
facts beside it."""

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
PASSING = {
    index_generation.name,
    index_write.name,
    lease.name,
    presence.name,
    progress.name,
    signal.name,
    work.name,
}
"""Tables of what goes on at this moment and of the index that is there: no copy has any use for
them."""
WHOLE = (documents, glossary, graph_document, graph_triplet, graph_name, graph_same)


def copy_library(store: Store, other: Store) -> None:
    """Documents with the text of their present version, abbreviations and triplets, as they are in
    one moment. `other` must hold none."""
    present = documents.c.id == texts.c.document_id
    is_present = present & (documents.c.digest == texts.c.digest)
    with store.read() as db, other.write() as copied:
        for table in WHOLE:
            _copy(db, copied, table, select(table))
        _copy(db, copied, texts, select(texts).join(documents, is_present))


def _copy(db: Connection, copied: Connection, table: Table, query: object) -> None:
    rows = [dict(row._mapping) for row in db.execute(query)]  # type: ignore[call-overload]
    for some in batches(rows, BATCH):
        copied.execute(insert(table), list(some))


def copy_store(store: Store, other: Store) -> dict[str, int]:
    """Everything that is kept, as it is in one moment; returns table -> rows. Raises StoreError
    where `other` holds anything, or either database fails."""
    rows: dict[str, int] = {}
    with store.read() as db, other.write() as copied:
        for table in _kept_tables():
            _check_empty(copied, table)
        copied.execute(delete(audit))  # a new store begins a chain of its own
        for table in _kept_tables():
            rows[table.name] = 0
            found = db.execute(select(table).execution_options(yield_per=BATCH))
            for some in found.partitions():
                copied.execute(insert(table), [dict(row._mapping) for row in some])
                rows[table.name] += len(some)
            _go_on_counting(copied, table)
    return rows


def count_rows(store: Store) -> dict[str, int]:
    """Table -> rows, of everything that is kept."""
    rows: dict[str, int] = {}
    with store.read() as db:
        for table in _kept_tables():
            rows[table.name] = _count(db, table)
    return rows


def compare_stores(store: Store, other: Store) -> dict[str, int]:
    """Table -> rows that are not the same in both, of everything that is kept; nothing where all
    are."""
    differing: dict[str, int] = {}
    with store.read() as db, other.read() as copied:
        for table in _kept_tables():
            different = _digests(db, table) ^ _digests(copied, table)
            if different:
                differing[table.name] = len(different)
    return differing


def _digests(db: Connection, table: Table) -> set[bytes]:
    """Of the rows: the databases order text each in its own way."""
    found: set[bytes] = set()
    for row in db.execute(select(table).execution_options(yield_per=BATCH)):
        found.add(sha256(json.dumps(list(row), default=str, sort_keys=True).encode()).digest())
    return found


def _kept_tables() -> list[Table]:
    """Those that others refer to first."""
    return [table for table in metadata.sorted_tables if table.name not in PASSING]


def _count(db: Connection, table: Table) -> int:
    return int(db.execute(select(func.count()).select_from(table)).scalar() or 0)


def _check_empty(db: Connection, table: Table) -> None:
    begun = 1 if table is audit else 0
    if _count(db, table) > begun:
        raise StoreError(
            f"The database to copy into is not empty: its table `{table.name}` has rows.",
            hint="Name an empty one in store.url.",
        )


def _go_on_counting(db: Connection, table: Table) -> None:
    """PostgreSQL's own counters know nothing of numbers that were given."""
    column = table.autoincrement_column
    if db.dialect.name != "postgresql" or column is None:
        return
    sequence = f"pg_get_serial_sequence('{table.name}', '{column.name}')"
    highest = f"(SELECT max({column.name}) FROM {table.name})"
    there = f"{sequence} IS NOT NULL AND EXISTS (SELECT 1 FROM {table.name})"
    db.execute(text(f"SELECT setval({sequence}, {highest}) WHERE {there}"))
