"""Open indexes by url: `lance:///var/ombud/index`, or `lance:index` for a relative path.

The scheme names the engine, built in or of a plugin (`ombud.engine`), which interprets the rest; it
is not percent-encoded. fingerprint: identity of the embedder ("" = no vectors); a different one
than the index was built with raises EngineError. dimension: length of a vector, 0 without an
embedder. pointer: names the generation that serves; without one it is the first. Raises
UnknownName for an unknown scheme."""

from datetime import datetime
from pathlib import Path
from typing import Protocol, runtime_checkable

from ombud.index.current import CurrentEngine
from ombud.index.engine import FIRST, Engine, EngineBackend
from ombud.index.pointer import GenerationPointer
from ombud.registry import open_part


@runtime_checkable
class PassageCaching(Protocol):
    """A backend with slow storage, which caches passages on disk."""

    def cache_in(self, folder: Path) -> None: ...


def open_engine(
    url: str,
    *,
    fingerprint: str,
    dimension: int,
    pointer: GenerationPointer | None = None,
    fresh_seconds: float = 0.0,
) -> Engine:
    """Open or create the index; with a pointer it follows rebuilds, also of other processes.

    fresh_seconds: greatest age of what it reads."""
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
    """Open the index at a version that `Engine.version` returned at that time; None if it no longer
    exists."""
    generation, _, number = version.rpartition("/")
    generation = generation or FIRST
    if not backend.holds(generation):
        return None
    engine = backend.open(generation, fingerprint=fingerprint, dimension=dimension)
    return await engine.at(number, when)


def open_backend(url: str, cache: Path | None = None) -> EngineBackend:
    """Open the backend of a url. cache: folder in which it may cache passages."""
    scheme, _, rest = url.partition(":")
    backend: EngineBackend = open_part(
        "engine", scheme, ENGINES, rest.removeprefix("//"), needs=("open", "names", "remove")
    )
    if cache and isinstance(backend, PassageCaching):
        backend.cache_in(cache)
    return backend


ENGINES = {"lance": "ombud.index.engines.lance:LanceBackend"}
"""Scheme -> `(rest of the url) -> EngineBackend`. A plugin registers under `ombud.engine`, as
`plugins/ombud-milvus` does."""
