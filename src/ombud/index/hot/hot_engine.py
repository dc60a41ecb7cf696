"""An engine that searches its current version in memory."""

import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from ombud.errors import EngineError, OmbudError
from ombud.index.engine import Engine, Leg, Row, Stats, Vector
from ombud.index.engine_loop import AtHand, blocking, is_process_ending
from ombud.index.hot.snapshot import HotSnapshot, SnapshotBuilder
from ombud.index.visibility import Filter
from ombud.types import Chunk, Document, Mode

WARM_AFTER_SEARCHES = 24
"""Searches after which a process loads the index into memory unasked: a single question takes
fewer."""
MAX_END_SECONDS = 5.0
"""Seconds that an ending process waits for the thread that loads the index."""
CHECK_SECONDS = 1.0
"""Seconds between two checks of the version."""
PASSAGE_BYTES = 9_000
"""Approximate memory of a usual passage: vectors, tokens, text and terms."""
LOAD_BATCH = 50
"""Documents whose rows are loaded at a time; calls meanwhile wait for one batch at most."""
Prepare = Callable[[Sequence[str], Iterator[Chunk]], None]
"""Called with the ids of all passages, and the passages one by one."""


class HotEngine:
    """Searches a snapshot in memory if it is of the engine's current version, which is checked
    before every call. Otherwise the engine itself answers and a new snapshot is made in the
    background, so that deletions and permissions take effect at once.

    most: passages of the largest index that is loaded into memory. prepare: called in the
    background with all passages of each version in memory."""

    def __init__(
        self,
        engine: Engine,
        most: int,
        prepare: Prepare | None = None,
    ) -> None:
        self._engine = engine
        self._most = most
        self._prepare = prepare
        self._snapshot: HotSnapshot | None = None
        self._searches = 0
        self._loader_lock = threading.Lock()
        self._loader: SnapshotLoader | None = None

    @property
    def fingerprint(self) -> str:
        return self._engine.fingerprint

    @property
    def bytes(self) -> int:
        """Bytes in memory now; 0 without a snapshot."""
        snapshot = self._snapshot
        return snapshot.bytes if snapshot else 0

    def in_memory(self, phrases: Sequence[str]) -> int:
        """Count the passages in memory that contain one of the phrases."""
        snapshot = self._snapshot
        return snapshot.count_containing(phrases) if snapshot else 0

    def expected_bytes(self) -> int:
        """Return the bytes in memory, or an estimate before the index is loaded; 0 if it has too
        many passages or they cannot be counted."""
        try:
            passages = blocking(self._engine.stats()).chunks
        except EngineError:
            return 0
        return self.bytes or (PASSAGE_BYTES * passages if passages <= self._most else 0)

    def warm(self, seconds: float = 0.0) -> bool:
        """Begin to load the index into memory and wait at most this long; tell whether it is
        loaded."""
        with self._loader_lock:
            if self._loader is None:
                self._loader = SnapshotLoader(self)
                weakref.finalize(self, self._loader.end)
                self._loader.start()
            loader = self._loader
        loader.done.wait(seconds)
        return self._current() is not None

    def close(self) -> None:
        """Free the memory and load nothing any more."""
        with self._loader_lock:
            if self._loader is not None:
                self._loader.request_stop()
            self._loader = None
            self._snapshot = None

    # Searching --------------------------------------------------------------------------------

    async def search(
        self, text: str, vector: Vector | None, where: Filter, k: int, mode: Mode
    ) -> tuple[Leg, ...]:
        snapshot = self._current()
        if snapshot is not None:
            return snapshot.search(text, vector, where, k, mode)
        self._searches += 1
        if self._searches >= WARM_AFTER_SEARCHES and self._loader is None:
            self.warm()
        return await self._engine.search(text, vector, where, k, mode)

    def get(self, chunks: Sequence[str]) -> Coroutine[Any, Any, dict[str, Chunk]]:
        snapshot = self._current()
        return AtHand(snapshot.get(chunks)) if snapshot else self._engine.get(chunks)

    def vectors(self, chunks: Sequence[str]) -> Coroutine[Any, Any, dict[str, Vector]]:
        snapshot = self._current()
        return AtHand(snapshot.vectors(chunks)) if snapshot else self._engine.vectors(chunks)

    def chunk_ids(self) -> Coroutine[Any, Any, list[str]]:
        snapshot = self._current()
        return AtHand(list(snapshot.ids)) if snapshot else self._engine.chunk_ids()

    def stats(self, terms: Sequence[str] = ()) -> Coroutine[Any, Any, Stats]:
        snapshot = self._current()
        return AtHand(snapshot.stats(terms)) if snapshot else self._engine.stats(terms)

    def _current(self) -> HotSnapshot | None:
        snapshot = self._snapshot
        return snapshot and self._as_of(snapshot, self._engine.version())

    def _as_of(self, snapshot: HotSnapshot | None, version: str) -> HotSnapshot | None:
        """Return the snapshot if it is of this version, which must be newer than the snapshot; else
        drop it."""
        if snapshot is None or snapshot.version == version:
            return snapshot
        self._snapshot = None  # deleted passages must not stay in memory until others are loaded
        loader = self._loader
        if loader is not None:
            loader.wake.set()
        return None

    def refresh(self, stop: threading.Event | None = None) -> bool:
        """Make a snapshot of the current version, unless there is one, the index is too large, or a
        sync changes it meanwhile; tell whether there is a new one. stop: gives up when set."""
        version = self._engine.version()
        snapshot = self._snapshot
        if snapshot is not None and snapshot.version == version:
            return False
        self._snapshot = None
        if blocking(self._engine.stats()).chunks > self._most:
            return False
        built = SnapshotBuilder()
        documents = sorted(blocking(self._engine.documents()))
        for start in range(0, len(documents), LOAD_BATCH):
            for row in blocking(self._engine.rows(documents[start : start + LOAD_BATCH])):
                built.add(row)
            if self._engine.version() != version or (stop and stop.is_set()):
                return False
        new_snapshot = HotSnapshot(version, built)
        if self._engine.version() != version:
            return False
        self._snapshot = new_snapshot
        return True

    def prepare(self, stop: threading.Event) -> None:
        """Pass the passages of the snapshot to the `prepare` callback."""
        snapshot = self._snapshot
        if snapshot is not None and self._prepare is not None:
            passages = self._passages(snapshot, stop)
            self._prepare(snapshot.ids, passages)

    def _passages(self, snapshot: HotSnapshot, stop: threading.Event) -> Iterator[Chunk]:
        for identity in snapshot.ids:
            if stop.is_set() or self._current() is not snapshot:
                return
            yield snapshot.read(identity)

    # The engine's own -------------------------------------------------------------------------

    async def upsert(self, documents: Sequence[str], rows: Iterable[Row]) -> None:
        await self._engine.upsert(documents, rows)

    async def revise(self, document: Document) -> None:
        await self._engine.revise(document)

    async def delete(self, documents: Sequence[str]) -> None:
        await self._engine.delete(documents)

    async def rows(self, documents: Sequence[str]) -> Sequence[Row]:
        return await self._engine.rows(documents)

    async def documents(self) -> dict[str, int]:
        return await self._engine.documents()

    async def at(self, version: str, when: datetime) -> Engine | None:
        return await self._engine.at(version, when)

    async def maintain(self) -> None:
        await self._engine.maintain()

    async def purge(self, *, keep_seconds: float = 0.0) -> None:
        self._snapshot = None
        await self._engine.purge(keep_seconds=keep_seconds)

    async def holds(self, phrases: Sequence[str]) -> int:
        return await self._engine.holds(phrases)

    def languages(self) -> frozenset[str]:
        return self._engine.languages()

    def version(self) -> str:
        snapshot = self._snapshot
        version = self._engine.version()
        self._as_of(snapshot, version)  # drops an outdated snapshot even if nobody searches
        return version


class SnapshotLoader(threading.Thread):
    """Loads a snapshot of each version once commits have paused; ends with its engine."""

    def __init__(self, engine: HotEngine) -> None:
        super().__init__(name="hot-index", daemon=True)
        self._engine = weakref.ref(engine)
        self.stop = threading.Event()
        self.wake = threading.Event()
        self.done = threading.Event()
        """Set when the first snapshot is loaded, or cannot be."""

    def request_stop(self) -> None:
        self.stop.set()
        self.wake.set()

    def end(self) -> None:
        """Stop and wait, also at the end of the process, which would otherwise kill the thread
        inside a model."""
        self.request_stop()
        if threading.current_thread() is not self:
            self.join(MAX_END_SECONDS)

    def run(self) -> None:
        while not self.stop.is_set():
            engine = self._engine()
            if engine is None:
                return
            began = time.monotonic()
            took = 0.0
            try:
                is_new = engine.refresh(self.stop)
                took = time.monotonic() - began
                self.done.set()
                if is_new:
                    engine.prepare(self.stop)
            except RuntimeError:
                if not is_process_ending():
                    raise
                return
            except OmbudError:  # callers get it too; the next check may succeed
                pass
            finally:
                self.done.set()
            del engine
            # Commits of a sync follow each other: load for at most half of the time.
            self.wake.wait(max(CHECK_SECONDS, took))
            self.wake.clear()
