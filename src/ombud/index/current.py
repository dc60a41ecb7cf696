"""An engine that follows the generation pointer."""

import contextlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from ombud.errors import EngineError
from ombud.index.engine import FIRST, Engine, Leg, Row, Stats, Vector
from ombud.index.pointer import GenerationPointer
from ombud.index.visibility import Filter
from ombud.types import Chunk, Document, Mode

T = TypeVar("T")


class CurrentEngine:
    """Passes calls to the generation that serves, and switches as soon as the pointer does.

    If this process cannot open a new generation, as one built with another embedder, it stays with
    the one before; processes started later open the new one."""

    def __init__(self, open_one: Callable[[str], Engine], pointer: GenerationPointer) -> None:
        """open_one: opens a generation by its name."""
        self._open = open_one
        self._pointer = pointer
        self._generation = self._tried = pointer.current()
        self._engine = open_one(self._generation)

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
        return await self._read(lambda engine: engine.search(text, vector, where, k, mode))

    async def get(self, chunks: Sequence[str]) -> dict[str, Chunk]:
        return await self._read(lambda engine: engine.get(chunks))

    async def vectors(self, chunks: Sequence[str]) -> dict[str, Vector]:
        return await self._read(lambda engine: engine.vectors(chunks))

    async def rows(self, documents: Sequence[str]) -> Sequence[Row]:
        return await self._read(lambda engine: engine.rows(documents))

    async def documents(self) -> dict[str, int]:
        return await self._read(lambda engine: engine.documents())

    async def chunk_ids(self) -> list[str]:
        return await self._read(lambda engine: engine.chunk_ids())

    async def stats(self, terms: Sequence[str] = ()) -> Stats:
        return await self._read(lambda engine: engine.stats(terms))

    async def at(self, version: str, when: datetime) -> Engine | None:
        return await self._current().at(version, when)

    async def maintain(self) -> None:
        await self._current().maintain()

    async def purge(self, *, keep_seconds: float = 0.0) -> None:
        await self._current().purge(keep_seconds=keep_seconds)

    async def holds(self, phrases: Sequence[str]) -> int:
        return await self._read(lambda engine: engine.holds(phrases))

    def languages(self) -> frozenset[str]:
        return self._read_now(lambda engine: engine.languages())

    def version(self) -> str:
        """Return the version, prefixed by the generation if that is not the first: `g2/17`. Each
        generation counts its versions from 1."""
        number = self._read_now(lambda engine: engine.version())
        return number if self._generation == FIRST else f"{self._generation}/{number}"

    def _current(self) -> Engine:
        return self._follow(self._pointer.current())

    def _follow(self, generation: str) -> Engine:
        if generation != self._tried:
            with contextlib.suppress(EngineError):
                self._engine = self._open(generation)
                self._generation = generation
            self._tried = generation
        return self._engine

    async def _read(self, call: Callable[[Engine], Awaitable[T]]) -> T:
        """Call the engine; once more if a certified deletion removed its generation meanwhile."""
        engine = self._current()
        try:
            return await call(engine)
        except EngineError:
            newer = self._follow(self._pointer.look())
            if newer is engine:
                raise
            return await call(newer)

    def _read_now(self, call: Callable[[Engine], T]) -> T:
        """Do as `_read` does, for calls that do not wait."""
        engine = self._current()
        try:
            return call(engine)
        except EngineError:
            newer = self._follow(self._pointer.look())
            if newer is engine:
                raise
            return call(newer)
