"""Which generation of an index counts, and which there are: as the store says it."""

import threading
import time
from collections.abc import Callable

from ombud.index.engine import FIRST, EngineBackend
from ombud.store import (
    Lease,
    Store,
    begin_generation,
    forget_generations,
    generations_of,
    live_generation,
    retire_before,
    switch_generation,
)

QUICKEST = 0.05
"""Seconds between two looks at least: a search asks an engine several times."""


class GenerationPointer:
    """Of the index at `place`, "" for the one in the workspace's folder.

    fresh_seconds: how old an answer may be. A switch by this process is seen at once."""

    def __init__(
        self,
        store: Store,
        backend: EngineBackend,
        place: str = "",
        fresh_seconds: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self.backend = backend
        self._place = place
        self._seconds = max(fresh_seconds, QUICKEST)
        self._clock = clock
        self._looking = threading.Lock()
        self._name = ""
        self._looked = 0.0

    def current(self) -> str:
        """Name of the generation that counts, seen `fresh_seconds` ago at most. Raises
        StoreError."""
        if not self._name or self._clock() - self._looked >= self._seconds:
            self.look()
        return self._name

    def look(self) -> str:
        """The same, as of now."""
        with self._looking:
            looked = self._clock()
            # An ombud before this one kept the name beside the index.
            self._name = live_generation(self._store, self._place) or self.backend.recorded()
            self._looked = looked
            return self._name

    def begin(self, lease: Lease) -> str:
        """Name of a new generation, of no other process; what earlier builds have left is
        removed. Raises Busy."""
        there = {*generations_of(self._store, self._place), *self.backend.names(), self.look()}
        newest = max(map(_number, there))
        name = f"g{max(lease.fence, newest + 1)}"
        begin_generation(self._store, self._place, name, lease)
        self._clear()
        return name

    def switch(self, name: str, lease: Lease) -> None:
        """Let it count; all but it and the one before are removed. Raises Busy where another has
        the lease."""
        switch_generation(self._store, self._place, name, lease, before=self.look())
        self.look()
        self._clear()

    def keep_only_current(self) -> None:
        """Remove the generation before, too: for a deletion that must leave nothing behind."""
        retire_before(self._store, self._place)
        self._clear()

    def others(self) -> frozenset[str]:
        """Generations that may be there and do not count."""
        known = generations_of(self._store, self._place)
        return frozenset({FIRST, *known, *self.backend.names()} - {self.look()})

    def _clear(self) -> None:
        states = generations_of(self._store, self._place)
        kept = {name for name, state in states.items() if state != "gone"}
        gone = {*states, *self.backend.names()} - kept - {self.look()}
        for name in sorted(gone):
            self.backend.remove(name)
        forget_generations(self._store, self._place, gone)


def _number(name: str) -> int:
    """0 where the name is not one of a generation that was begun."""
    is_numbered = name != FIRST and name[:1] == "g" and name[1:].isdecimal()
    return int(name[1:]) if is_numbered else 0
