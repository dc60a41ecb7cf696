"""Databases to run the store's tests in, and documents to put there."""

import ctypes
import ctypes.util
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from ombud.store import SyncStamp
from ombud.types import Block, Document


@contextmanager
def database(kind: str) -> Iterator[str]:
    """A store.url with nothing in it: empty for SQLite, a schema of its own for PostgreSQL."""
    if kind == "sqlite":
        yield ""
        return
    url = os.environ.get("TEST_POSTGRES_URL")
    if not url:
        pytest.skip(
            "TEST_POSTGRES_URL names no PostgreSQL, such as postgresql+psycopg://postgres@127.0.0.1/test"
        )
    schema = f"test_{uuid.uuid4().hex}"
    engine = create_engine(url)
    with engine.begin() as db:
        db.execute(text(f"CREATE SCHEMA {schema}"))
    yield f"{url}?options=-csearch_path%3D{schema}"
    with engine.begin() as db:
        db.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    engine.dispose()


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """`folder` as a file system of its own; skips where that is not allowed."""
    folder.mkdir()
    libc = ctypes.CDLL(ctypes.util.find_library("c"), use_errno=True)
    mounted = hasattr(libc, "mount") and libc.mount(
        b"tmpfs", str(folder).encode(), b"tmpfs", 0, f"size={kilobytes}k".encode()
    )
    if mounted != 0:
        pytest.skip("a small file system can only be mounted by root")
    try:
        yield folder
    finally:
        libc.umount2(str(folder).encode(), 2)


def document(uri: str, *texts: str, **fields: Any) -> Document:
    """A document of the given block texts."""
    blocks = tuple(Block(kind="text", text=t) for t in texts)
    given: dict[str, Any] = {
        "id": f"{abs(hash(uri)):016x}"[:16],
        "source": "hr",
        "title": uri,
        "digest": "1",
    }
    return Document(uri=uri, blocks=blocks, text="\n\n".join(texts), **given | fields)


def kept(own_end: date | None = None, chunks: int = 1) -> SyncStamp:
    return SyncStamp(facts_digest="f", recipe="r", own_end=own_end, chunks=chunks)
