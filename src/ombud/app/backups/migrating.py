"""A workspace moves: its store into PostgreSQL, its index into object storage or Milvus.

What was moved is compared with where it came from before anybody is told that it is there. A
migration that is killed is run again: a store is copied in one transaction, an index goes on with
the documents that are missing.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, EngineError, StoreError
from ombud.index import Engine, GenerationPointer, Row, blocking, open_backend, open_engine
from ombud.store import acquire_lease, compare_stores, copy_store, count_rows, open_store

BATCH = 100
"""Documents at once."""
STORES = ("postgresql", "sqlite")
OnProgress = Callable[[str, int, int], None]


class Migrated(NamedTuple):
    """What is at the new place, compared with the old one."""

    what: str
    """store | index"""
    moved: int
    """Rows, or passages."""
    settings: str
    """Lines for ombud.toml that make the workspace use it."""


def migrate(workspace: Workspace, url: str, on_progress: OnProgress = lambda *_: None) -> Migrated:
    """Copy the store, or the index, to `url`, and compare. The workspace uses the old place until
    ombud.toml names the new one.

    Raises BadRequest for a url of neither, Busy while a sync runs, StoreError or EngineError where
    what is there afterwards is not the same."""
    scheme = url.partition(":")[0].partition("+")[0]
    if scheme in STORES:
        return migrate_store(workspace, url)
    if scheme in ("s3", "az", "gs"):
        return migrate_index(workspace, "lance", url, on_progress)
    if scheme in ("http", "https"):
        return migrate_index(workspace, "milvus", url, on_progress)
    raise BadRequest(
        f"`{scheme}` is no place for a store or an index.",
        hint="postgresql+psycopg://… takes the store; s3://…, az://…, gs://… or http://milvus… "
        "the index.",
    )


def migrate_store(workspace: Workspace, url: str) -> Migrated:
    """Rows that were written while it copied are differences: stop servers before."""
    other = open_store(url, workspace.data)
    try:
        with acquire_lease(workspace.store, "sync"):
            if not _holds_rows(count_rows(other)):
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


def _holds_rows(counts: dict[str, int]) -> bool:
    """A new store has the first record of its chain."""
    return any(rows for table, rows in counts.items() if table != "audit")


def migrate_index(
    workspace: Workspace, engine_name: str, url: str, on_progress: OnProgress
) -> Migrated:
    """Nothing is embedded again."""
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
        _compare(engine, other, sorted(wanted), on_progress)
        lease.check()
    passages = sum(wanted.values())
    return Migrated("index", passages, f'[index]\nengine = "{engine_name}"\nurl = "{url}"')


def _compare(
    engine: Engine, other: Engine, documents: Sequence[str], on_progress: OnProgress
) -> None:
    """Passage by passage. Raises EngineError; what differs is taken out, so that the next run
    copies it anew."""
    for start in range(0, len(documents), BATCH):
        batch = documents[start : start + BATCH]
        before = {row.chunk.id: row for row in blocking(engine.rows(batch))}
        after = {row.chunk.id: row for row in blocking(other.rows(batch))}
        differing: set[str] = set()
        for key in before.keys() | after.keys():
            if not _is_same(before.get(key), after.get(key)):
                differing.add(key.partition("-")[0])
        if differing:
            blocking(other.delete(sorted(differing)))
            raise EngineError(
                f"{len(differing)} documents are not the same there.", hint="Run it again."
            )
        on_progress("compare", start + len(batch), len(documents))
    if blocking(engine.documents()) != blocking(other.documents()):
        raise EngineError("The two indexes hold other documents.", hint="Run it again.")


def _is_same(before: Row | None, after: Row | None) -> bool:
    if before is None or after is None:
        return False
    plain = before._replace(vectors=None) == after._replace(vectors=None)
    if before.vectors is None or after.vectors is None:
        return plain and before.vectors is after.vectors
    same_shape = before.vectors.shape == after.vectors.shape
    return plain and same_shape and bool(np.array_equal(before.vectors, after.vectors))
