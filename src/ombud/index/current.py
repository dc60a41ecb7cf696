"""An engine that is always the generation that counts."""

import contextlib
from collections.abc import Iterable, Sequence
from datetime import datetime

from ombud.errors import EngineError
from ombud.index.engine import FIRST, Engine, EngineBackend, Leg, Row, Stats, Vector
from ombud.index.visibility import Filter
from ombud.types import Chunk, Document, Mode


class CurrentEngine:
    """Goes over to another generation as soon as that counts. One that cannot be opened by this
    process (it was built with another embedder) is left to the processes started after it, and the
    one before serves on here."""

    def __init__(self, backend: EngineBackend, *, fingerprint: str, dimension: int) -> None:
        self._backend = backend
        self._wanted_fingerprint = fingerprint
        self._dimension = dimension
        self._stamp = backend.stamp()
        self._generation = backend.current()
        self._engine = self._open(self._generation)

    @property
    def fingerprint(self) -> str:
        return self._current().fingerprint

    async def upsert(self, documents: Sequence[str], rows: Iterable[Row]) -> None:
        await self._current().upsert(documents, rows)

    async def revise(self, document: Document) -> None:
        await self._current().revise(document)

    async def delete(self, documents: Sequence[str]) -> None:
        await self._current().delete(documents)

    async def search(
        self, text: str, vector: Vector | None, where: Filter, k: int, mode: Mode
    ) -> tuple[Leg, ...]:
        return await self._current().search(text, vector, where, k, mode)

    async def get(self, chunks: Sequence[str]) -> dict[str, Chunk]:
        return await self._current().get(chunks)

    async def vectors(self, chunks: Sequence[str]) -> dict[str, Vector]:
        return await self._current().vectors(chunks)

    async def rows(self, documents: Sequence[str]) -> Sequence[Row]:
        return await self._current().rows(documents)

    async def documents(self) -> dict[str, int]:
        return await self._current().documents()

    async def chunk_ids(self) -> list[str]:
        return await self._current().chunk_ids()

    async def stats(self, terms: Sequence[str] = ()) -> Stats:
        return await self._current().stats(terms)

    async def at(self, version: str, when: datetime) -> Engine | None:
        return await self._current().at(version, when)

    async def maintain(self) -> None:
        await self._current().maintain()

    def languages(self) -> frozenset[str]:
        return self._current().languages()

    def version(self) -> str:
        """Each generation counts its versions from 1, so all but the first stand before theirs:
        `g2/17`."""
        number = self._current().version()
        return number if self._generation == FIRST else f"{self._generation}/{number}"

    def _current(self) -> Engine:
        stamp = self._backend.stamp()
        if stamp != self._stamp:
            with contextlib.suppress(EngineError):
                generation = self._backend.current()
                self._engine = self._open(generation)
                self._generation = generation
            self._stamp = stamp
        return self._engine

    def _open(self, generation: str) -> Engine:
        return self._backend.open(
            generation,
            fingerprint=self._wanted_fingerprint,
            dimension=self._dimension,
        )
