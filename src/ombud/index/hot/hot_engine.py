"""An engine whose current version stands in memory."""

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

WORTH = 24
"""Searches after which a process that nobody warmed up takes the index into memory: a single
question is over before that."""
ENDING = 5.0
"""Seconds that a process which ends waits for what it was taking into memory."""
LOOK = 1.0
"""Seconds between two looks at the version while the index stands in memory."""
PASSAGE_BYTES = 9_000
"""In memory, about: vectors, tokens, text and terms of a usual one."""
BATCH = 50
"""Documents whose rows are read at once: what asks meanwhile waits for one batch at most."""


Prepare = Callable[[Sequence[str], Iterator[Chunk]], None]
"""Gets the ids of all passages, and these one by one."""


class HotEngine:
    """Searches in memory as long as the snapshot is of the engine's present version, which is
    looked at before every call; else the engine itself answers, and another snapshot is made behind
    it. So a deletion, a permission or a day counts at once, whether or not that is ready.

    most: passages of the largest index that is taken into memory. prepare: gets all passages of
    each version that stands in memory, behind the searches; they end where another has come."""

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
        self._keeping = threading.Lock()
        self._keeper: _Keeper | None = None

    @property
    def fingerprint(self) -> str:
        return self._engine.fingerprint

    @property
    def bytes(self) -> int:
        """In memory now; 0 where nothing is."""
        snapshot = self._snapshot
        return snapshot.bytes if snapshot else 0

    def in_memory(self, phrases: Sequence[str]) -> int:
        """Passages that stand in memory now and hold one of the phrases."""
        snapshot = self._snapshot
        return snapshot.holding(phrases) if snapshot else 0

    def expected_bytes(self) -> int:
        """What it holds in memory, or will by the number of passages; 0 where these are too many or
        cannot be counted."""
        try:
            passages = blocking(self._engine.stats()).chunks
        except EngineError:
            return 0
        return self.bytes or (PASSAGE_BYTES * passages if passages <= self._most else 0)

    def warm(self, seconds: float = 0.0) -> bool:
        """Take the index into memory from now on, and wait so long for it. Whether it is there."""
        with self._keeping:
            if self._keeper is None:
                self._keeper = _Keeper(self)
                weakref.finalize(self, self._keeper.end)
                self._keeper.start()
            keeper = self._keeper
        keeper.done.wait(seconds)
        return self._current() is not None

    def close(self) -> None:
        """Let go of the memory."""
        with self._keeping:
            if self._keeper is not None:
                self._keeper.let_go()
            self._keeper = None
            self._snapshot = None

    # Searching --------------------------------------------------------------------------------

    async def search(
        self, text: str, vector: Vector | None, where: Filter, k: int, mode: Mode
    ) -> tuple[Leg, ...]:
        snapshot = self._current()
        if snapshot is not None:
            return snapshot.search(text, vector, where, k, mode)
        self._searches += 1
        if self._searches >= WORTH and self._keeper is None:
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
        """A snapshot where it is of this version of the index, which was looked up after it; else
        it is let go."""
        if snapshot is None or snapshot.version == version:
            return snapshot
        self._snapshot = None  # what was deleted must not stay in memory until others are read
        keeper = self._keeper
        if keeper is not None:
            keeper.wake.set()
        return None

    def refresh(self, stop: threading.Event | None = None) -> bool:
        """Make a snapshot of the present version, unless there is one or the index is too large; a
        sync that goes on meanwhile is waited for. Whether there is a new one; stop: given up."""
        version = self._engine.version()
        snapshot = self._snapshot
        if snapshot is not None and snapshot.version == version:
            return False
        self._snapshot = None
        if blocking(self._engine.stats()).chunks > self._most:
            return False
        built = SnapshotBuilder()
        documents = sorted(blocking(self._engine.documents()))
        for start in range(0, len(documents), BATCH):
            for row in blocking(self._engine.rows(documents[start : start + BATCH])):
                built.add(row)
            if self._engine.version() != version or (stop and stop.is_set()):
                return False
        made = HotSnapshot(version, built)
        if self._engine.version() != version:
            return False
        self._snapshot = made
        return True

    def prepare(self, stop: threading.Event) -> None:
        """Let what depends on passages alone be read ahead."""
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
        self._as_of(snapshot, version)  # whoever looks lets go of what has changed, asked or not
        return version


class _Keeper(threading.Thread):
    """Makes a snapshot of each version once it has stood still; ends with its engine."""

    def __init__(self, engine: HotEngine) -> None:
        super().__init__(name="hot-index", daemon=True)
        self._engine = weakref.ref(engine)
        self.stop = threading.Event()
        self.wake = threading.Event()
        self.done = threading.Event()
        """Whether the first snapshot was made, or found not to be possible."""

    def let_go(self) -> None:
        """Ask it to end."""
        self.stop.set()
        self.wake.set()

    def end(self) -> None:
        """The same, and wait for it: also of an engine that nobody closed, at the end of the
        process, where a thread inside of a model would be torn out of it."""
        self.let_go()
        if threading.current_thread() is not self:
            self.join(ENDING)

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
            except OmbudError:  # told to whoever asks; the next look may find it well again
                pass
            finally:
                self.done.set()
            del engine
            # Commits of a sync come one after another: never busy for more than half of the time.
            self.wake.wait(max(LOOK, took))
            self.wake.clear()
