"""What every engine does. Fusion is not its business: a search returns each leg's own ranking."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ombud.index.visibility import Filter
from ombud.types import Chunk, Document, Mode

Vector = npt.NDArray[np.float32]


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
    fingerprint: str

    def upsert(self, documents: Sequence[str], rows: Iterable[Row]) -> None:
        """Replace all chunks of the documents (ids) by `rows`, in one commit."""
        ...

    def revise(self, document: Document) -> None:
        """Take over changed metadata of a document; vectors stay."""
        ...

    def delete(self, documents: Sequence[str]) -> None: ...

    def search(
        self, text: str, vector: Vector | None, where: Filter, k: int, mode: Mode
    ) -> tuple[Leg, ...]:
        """text: analysed terms. Everything `where` hides is removed before ranking."""
        ...

    def get(self, chunks: Sequence[str]) -> dict[str, Chunk]: ...

    def vectors(self, chunks: Sequence[str]) -> dict[str, Vector]:
        """Chunk id -> (windows, dimension)."""
        ...

    def rows(self, documents: Sequence[str]) -> Iterable[Row]:
        """All that is indexed of the documents, as it came in: to fill another engine without
        embedding again."""
        ...

    def documents(self) -> dict[str, int]:
        """Document id -> number of chunks, for reconciliation."""
        ...

    def chunk_ids(self) -> list[str]: ...

    def languages(self) -> frozenset[str]:
        """Codes of the languages that chunks are in."""
        ...

    def version(self) -> str:
        """Changes with every commit."""
        ...

    def at(self, version: str, when: datetime) -> "Engine | None":
        """For reading only: the index as it was at a version that is still kept and counted at that
        time; else None."""
        ...

    def maintain(self) -> None:
        """Build or merge search indexes, drop old versions. One owner at a time."""
        ...

    def stats(self, terms: Sequence[str] = ()) -> Stats: ...
