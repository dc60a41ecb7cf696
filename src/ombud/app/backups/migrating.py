"""Moves a workspace's store into PostgreSQL, or its index into object storage or Milvus.

The copy is compared with the original before success is reported. An interrupted migration is
simply repeated: a store is copied in one transaction, an index continues with the missing
documents.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, EngineError, StoreError
from ombud.index import Engine, GenerationPointer, Row, blocking, open_backend, open_engine
from ombud.store import acquire_lease, compare_stores, copy_store, count_rows, open_store

BATCH = 100
"""Documents copied at once."""
STORES = ("postgresql", "sqlite")
OnProgress = Callable[[str, int, int], None]


class Migrated(NamedTuple):
    """The result of a migration."""

    what: str
    """store | index"""
    moved: int
    """Number of rows or passages."""
    settings: str
    """Lines for ombud.toml that select the new place."""


def migrate(workspace: Workspace, url: str, on_progress: OnProgress = lambda *_: None) -> Migrated:
    """Copy the store, or the index, to `url` and compare. The workspace uses the old place until
    ombud.toml names the new one.

    Raises BadRequest for any other url, Busy while a sync runs, StoreError or EngineError if the
    copy differs.
    """
    scheme = url.partition(":")[0].partition("+")[0]
    if scheme in STORES:
        return migrate_store(workspace, url)
    if scheme in ("s3", "az", "gs"):
        return migrate_index(workspace, "lance", url, on_progress)
    if scheme in ("http", "https"):
        return migrate_index(workspace, "milvus", url, on_progress)
    raise BadRequest(
        f"`{scheme}` is no place for a store or an index.",
        hint="postgresql+psycopg://… for the store; s3://…, az://…, gs://… or http://milvus… "
        "the index.",
    )


def migrate_store(workspace: Workspace, url: str) -> Migrated:
    """Copy the store. Rows written meanwhile count as differences, so servers have to be stopped
    before."""
    other = open_store(url, workspace.data)
    try:
        with acquire_lease(workspace.store, "sync"):
            # A new store has only the first record of its audit chain.
            rows_there = count_rows(other)
            if not any(rows for table, rows in rows_there.items() if table != "audit"):
                copy_store(workspace.store, other)
            differing = compare_stores(workspace.store, other)
            if differing:
                table, rows = next(iter(differing.items()))
                raise StoreError(
                    f"{rows} rows of `{table}` are not the same there.",
                    hint="Stop all servers and syncs, empty that database and run it again.",
                )
            total = sum(count_rows(other).values())
    finally:
        other.close()
    return Migrated("store", total, f'[store]\nurl = "{url}"')


def migrate_index(
    workspace: Workspace, engine_name: str, url: str, on_progress: OnProgress
) -> Migrated:
    """Copy the index without embedding anything again."""
    engine = workspace.newest_engine
    backend = open_backend(f"{engine_name}:{url}")
    pointer = GenerationPointer(workspace.store, backend, place=url)
    other = open_engine(
        f"{engine_name}:{url}",
        fingerprint=engine.fingerprint,
        dimension=workspace.embedder.dimension if workspace.embedder else 0,
        pointer=pointer,
    )
    with acquire_lease(workspace.store, "sync") as lease:
        wanted = blocking(engine.documents())
        there = blocking(other.documents())
        surplus = sorted(there.keys() - wanted.keys())
        if surplus:
            blocking(other.delete(surplus))
        missing = sorted(key for key, count in wanted.items() if there.get(key) != count)
        for start in range(0, len(missing), BATCH):
            lease.check()
            batch = missing[start : start + BATCH]
            blocking(other.upsert(batch, blocking(engine.rows(batch))))
            on_progress("copy", start + len(batch), len(missing))
        blocking(other.maintain())
        compare_passages(engine, other, sorted(wanted), on_progress)
        lease.check()
    passages = sum(wanted.values())
    return Migrated("index", passages, f'[index]\nengine = "{engine_name}"\nurl = "{url}"')


def compare_passages(
    engine: Engine, other: Engine, documents: Sequence[str], on_progress: OnProgress
) -> None:
    """Compare each passage. Raises EngineError; documents that differ are removed, so that the next
    run copies them again."""
    for start in range(0, len(documents), BATCH):
        batch = documents[start : start + BATCH]
        before = {row.chunk.id: row for row in blocking(engine.rows(batch))}
        after = {row.chunk.id: row for row in blocking(other.rows(batch))}
        differing: set[str] = set()
        for key in before.keys() | after.keys():
            if not is_same_row(before.get(key), after.get(key)):
                differing.add(key.partition("-")[0])
        if differing:
            blocking(other.delete(sorted(differing)))
            raise EngineError(
                f"{len(differing)} documents are not the same there.", hint="Run it again."
            )
        on_progress("compare", start + len(batch), len(documents))
    if blocking(engine.documents()) != blocking(other.documents()):
        raise EngineError("The two indexes have different documents.", hint="Run it again.")


def is_same_row(before: Row | None, after: Row | None) -> bool:
    if before is None or after is None:
        return False
    plain = before._replace(vectors=None) == after._replace(vectors=None)
    if before.vectors is None or after.vectors is None:
        return plain and before.vectors is after.vectors
    same_shape = before.vectors.shape == after.vectors.shape
    return plain and same_shape and bool(np.array_equal(before.vectors, after.vectors))
