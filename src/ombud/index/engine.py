"""The interface of engines. Engines do not fuse: a search returns the ranking of each leg."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ombud.index.visibility import Filter
from ombud.types import Chunk, Document, Mode

Vector = npt.NDArray[np.float32]
FIRST = "."
"""Name of the first generation of an index."""


class Row(NamedTuple):
    """A chunk to index: its analysed terms, its vectors of shape (windows, dimension) and its
    packed tokens; both None if it is not embedded."""

    chunk: Chunk
    source: str
    terms: str
    vectors: Vector | None
    tokens: bytes | None = None


class Leg(NamedTuple):
    """A ranking, best first. Scores of different legs are not comparable."""

    name: str
    """sparse (BM25) or dense (cosine)."""
    hits: tuple[tuple[Chunk, float], ...]
    tokens: Mapping[str, bytes] = {}
    """Chunk id -> packed tokens as indexed, of hits that have some."""


class Stats(NamedTuple):
    chunks: int
    documents_with: Mapping[str, int]
    """Term -> number of chunks that contain it."""


class Engine(Protocol):
    """An open index. Coroutines read or write it and raise EngineError."""

    @property
    def fingerprint(self) -> str:
        """Identity of the embedder that built it; "" = no vectors."""
        ...

    async def upsert(self, documents: Sequence[str], rows: Iterable[Row]) -> None:
        """Replace all chunks of the documents (ids) with `rows`, in one commit."""
        ...

    async def revise(self, document: Document) -> None:
        """Update the metadata of a document's chunks; vectors stay."""
        ...

    async def delete(self, documents: Sequence[str]) -> None: ...

    async def search(
        self, text: str, vector: Vector | None, where: Filter, k: int, mode: Mode
    ) -> tuple[Leg, ...]:
        """Search what `where` leaves visible; it is applied before ranking. text: analysed
        terms."""
        ...

    async def get(self, chunks: Sequence[str]) -> dict[str, Chunk]: ...

    async def vectors(self, chunks: Sequence[str]) -> dict[str, Vector]:
        """Load the vectors of chunks, by id, each of shape (windows, dimension)."""
        ...

    async def rows(self, documents: Sequence[str]) -> Sequence[Row]:
        """Load the rows of documents as they were indexed, to fill another engine without embedding
        again."""
        ...

    async def documents(self) -> dict[str, int]:
        """Count the chunks of each document, by id."""
        ...

    async def chunk_ids(self) -> list[str]: ...

    async def stats(self, terms: Sequence[str] = ()) -> Stats: ...

    async def at(self, version: str, when: datetime) -> "Engine | None":
        """Open, for reading only, the index at a version that served at that time; None if the
        version no longer exists."""
        ...

    async def maintain(self) -> None:
        """Build or merge search indexes, drop old versions. One owner at a time."""
        ...

    async def purge(self, *, keep_seconds: float = 0.0) -> None:
        """Remove everything deleted or replaced from files and older versions, except versions
        younger than `keep_seconds`, which others may be reading. One owner at a time."""
        ...

    async def holds(self, phrases: Sequence[str]) -> int:
        """Count the passages that contain one of the phrases, in every readable version."""
        ...

    def languages(self) -> frozenset[str]:
        """Return the language codes of the chunks, from memory."""
        ...

    def version(self) -> str:
        """Return the version, which changes with every commit; as fast as reading a pointer."""
        ...


class EngineBackend(Protocol):
    """Opens the generations of an index at one location. One of them serves (`GenerationPointer`);
    a new one is built beside it, then replaces it at once.

    Constructed with what follows the scheme of a url: `lance:///var/ombud/index` ->
    `/var/ombud/index`."""

    def open(
        self, generation: str, *, fingerprint: str, dimension: int, fresh_seconds: float = 0.0
    ) -> Engine:
        """Open or create a generation. Raises EngineError, also for one of another embedder.

        dimension: length of a vector, 0 without an embedder. fresh_seconds: greatest age of what it
        reads."""
        ...

    def recorded(self) -> str:
        """Return the generation that serves if the store names none: FIRST, or what an older ombud
        recorded beside the index."""
        ...

    def names(self) -> frozenset[str]:
        """List the existing generations, as far as the backend can list them."""
        ...

    def remove(self, generation: str) -> None:
        """Remove a generation if it exists. Raises EngineError."""
        ...

    def holds(self, generation: str) -> bool:
        """Tell whether a generation exists."""
        ...

    def size(self) -> int:
        """Return the bytes of all generations; 0 if unknown."""
        ...
