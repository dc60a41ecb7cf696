"""What every engine does. Fusion is not its business: a search returns each leg's own ranking."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ombud.index.visibility import Filter
from ombud.types import Chunk, Document, Mode

Vector = npt.NDArray[np.float32]
FIRST = "."
"""Name of the generation that an index begins with."""


class Row(NamedTuple):
    """A chunk on its way in: its analysed terms, its vectors, shape (windows, dimension), and its
    packed tokens; none if not embedded."""

    chunk: Chunk
    source: str
    terms: str
    vectors: Vector | None
    tokens: bytes | None = None


class Leg(NamedTuple):
    """One ranking, best first. Scores of different legs are not comparable."""

    name: str
    """sparse (BM25) or dense (cosine)."""
    hits: tuple[tuple[Chunk, float], ...]
    tokens: Mapping[str, bytes] = {}
    """Chunk id -> packed tokens, as they came in, of hits that have some."""


class Stats(NamedTuple):
    chunks: int
    documents_with: Mapping[str, int]
    """Term -> chunks that hold it."""


class Engine(Protocol):
    """One index, open. What reads or writes it waits, and raises EngineError."""

    @property
    def fingerprint(self) -> str:
        """Identity of the embedder that it was built with; "" = no vectors."""
        ...

    async def upsert(self, documents: Sequence[str], rows: Iterable[Row]) -> None:
        """Replace all chunks of the documents (ids) by `rows`, in one commit."""
        ...

    async def revise(self, document: Document) -> None:
        """Take over changed metadata of a document; vectors stay."""
        ...

    async def delete(self, documents: Sequence[str]) -> None: ...

    async def search(
        self, text: str, vector: Vector | None, where: Filter, k: int, mode: Mode
    ) -> tuple[Leg, ...]:
        """text: analysed terms. Everything `where` hides is removed before ranking."""
        ...

    async def get(self, chunks: Sequence[str]) -> dict[str, Chunk]: ...

    async def vectors(self, chunks: Sequence[str]) -> dict[str, Vector]:
        """Chunk id -> (windows, dimension)."""
        ...

    async def rows(self, documents: Sequence[str]) -> Sequence[Row]:
        """All that is indexed of the documents, as it came in: to fill another engine without
        embedding again."""
        ...

    async def documents(self) -> dict[str, int]:
        """Document id -> number of chunks, for reconciliation."""
        ...

    async def chunk_ids(self) -> list[str]: ...

    async def stats(self, terms: Sequence[str] = ()) -> Stats: ...

    async def at(self, version: str, when: datetime) -> "Engine | None":
        """For reading only: the index as it was at a version that is still kept and counted at that
        time; else None."""
        ...

    async def maintain(self) -> None:
        """Build or merge search indexes, drop old versions. One owner at a time."""
        ...

    async def purge(self, *, keep_seconds: float = 0.0) -> None:
        """Leave nothing of what was deleted or replaced, in files or older versions, but versions
        younger than `keep_seconds`, which others may be reading. One owner at a time."""
        ...

    async def holds(self, phrases: Sequence[str]) -> int:
        """Passages that hold one of the phrases, in every version that can still be read."""
        ...

    def languages(self) -> frozenset[str]:
        """Codes of the languages that chunks are in. Held in memory, so nobody waits for it."""
        ...

    def version(self) -> str:
        """Changes with every commit. A look at a pointer at most, so nobody waits for it."""
        ...


class EngineBackend(Protocol):
    """An index at one place and its generations, of which one counts (`GenerationPointer`): a new
    one is built beside the one that serves, then takes its place at once. Called with what stands
    behind the scheme of a url: `lance:///var/ombud/index` -> `/var/ombud/index`."""

    def open(
        self, generation: str, *, fingerprint: str, dimension: int, fresh_seconds: float = 0.0
    ) -> Engine:
        """Open or create one generation. Raises EngineError, also where it was built with another
        embedder.

        dimension: length of a vector, 0 without an embedder. fresh_seconds: how old what it reads
        may be."""
        ...

    def recorded(self) -> str:
        """Name of the generation that counts where the store names none: FIRST, or as an older
        ombud has left it beside the index."""
        ...

    def names(self) -> frozenset[str]:
        """Generations that are there, as far as that can be listed."""
        ...

    def remove(self, generation: str) -> None:
        """What is no more, or never was, is no error. Raises EngineError."""
        ...

    def holds(self, generation: str) -> bool:
        """Whether it is still there."""
        ...

    def size(self) -> int:
        """Bytes of all generations; 0 where that is not known."""
        ...
