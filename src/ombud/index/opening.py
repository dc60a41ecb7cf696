"""Indexes by url: `lance:///var/ombud/index`, or `lance:index` for a relative place.

The scheme names the engine, here or in a plugin (`ombud.engine`); what stands behind it is the
engine's own business, and is not percent-encoded. fingerprint: identity of the embedder ("" = no
vectors); a different one than the index was built with raises EngineError. dimension: length of a
vector, 0 without an embedder. pointer: which generation counts; without one it is the first.
Raises UnknownName where no engine has the scheme."""

from datetime import datetime
from pathlib import Path
from typing import Protocol, runtime_checkable

from ombud.index.current import CurrentEngine
from ombud.index.engine import FIRST, Engine, EngineBackend
from ombud.index.pointer import GenerationPointer
from ombud.registry import open_part


@runtime_checkable
class KeepsPassages(Protocol):
    """A backend from which passages come slowly."""

    def cache_in(self, folder: Path) -> None: ...


def open_engine(
    url: str,
    *,
    fingerprint: str,
    dimension: int,
    pointer: GenerationPointer | None = None,
    fresh_seconds: float = 0.0,
) -> Engine:
    """Open or create the index; after a rebuild, also by another process, it is the new one.

    fresh_seconds: how old what it reads may be."""
    backend = pointer.backend if pointer else open_backend(url)
    if pointer is None:
        return backend.open(
            FIRST, fingerprint=fingerprint, dimension=dimension, fresh_seconds=fresh_seconds
        )

    def open_one(generation: str) -> Engine:
        return backend.open(
            generation,
            fingerprint=fingerprint,
            dimension=dimension,
            fresh_seconds=fresh_seconds,
        )

    return CurrentEngine(open_one, pointer)


async def open_snapshot(
    backend: EngineBackend, version: str, when: datetime, *, fingerprint: str, dimension: int
) -> Engine | None:
    """The index as it was at a version that `Engine.version` told at that time; None when it is
    gone."""
    generation, _, number = version.rpartition("/")
    generation = generation or FIRST
    if not backend.holds(generation):
        return None
    engine = backend.open(generation, fingerprint=fingerprint, dimension=dimension)
    return await engine.at(number, when)


def open_backend(url: str, cache: Path | None = None) -> EngineBackend:
    """cache: folder of its own for passages that were read, of an engine that keeps such."""
    scheme, _, rest = url.partition(":")
    backend: EngineBackend = open_part(
        "engine", scheme, ENGINES, rest.removeprefix("//"), needs=("open", "names", "remove")
    )
    if cache and isinstance(backend, KeepsPassages):
        backend.cache_in(cache)
    return backend


ENGINES = {
    "lance": "ombud.index.engines.lance:LanceBackend",
    "milvus": "ombud.index.engines.milvus:MilvusBackend",
}
