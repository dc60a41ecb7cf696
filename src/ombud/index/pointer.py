"""The generations of an index and the one that serves, as recorded in the store."""

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

MIN_FRESH_SECONDS = 0.05
"""Least seconds between two queries of the store: a search calls an engine several times."""


class GenerationPointer:
    """Names the generation that serves, for the index at `place`; "" is the one in the workspace's
    folder.

    fresh_seconds: greatest age of an answer. A switch by this process is seen at once."""

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
        self._seconds = max(fresh_seconds, MIN_FRESH_SECONDS)
        self._clock = clock
        self._looking = threading.Lock()
        self._name = ""
        self._looked = 0.0

    def current(self) -> str:
        """Return the generation that serves, at most `fresh_seconds` old. Raises StoreError."""
        if not self._name or self._clock() - self._looked >= self._seconds:
            self.look()
        return self._name

    def look(self) -> str:
        """Query the store for the generation that serves."""
        with self._looking:
            looked = self._clock()
            # Older versions of ombud recorded the name beside the index.
            self._name = live_generation(self._store, self._place) or self.backend.recorded()
            self._looked = looked
            return self._name

    def begin(self, lease: Lease) -> str:
        """Begin a new generation, remove leftovers of earlier builds, and return its name. Raises
        Busy."""
        names = {*generations_of(self._store, self._place), *self.backend.names(), self.look()}
        newest = max(map(generation_number, names))
        name = f"g{max(lease.fence, newest + 1)}"
        begin_generation(self._store, self._place, name, lease)
        self._clear()
        return name

    def switch(self, name: str, lease: Lease) -> None:
        """Let a generation serve; remove all others but the one before. Raises Busy if another
        process has the lease."""
        switch_generation(self._store, self._place, name, lease, before=self.look())
        self.look()
        self._clear()

    def keep_only_current(self) -> None:
        """Remove the generation before as well, for a deletion that must leave nothing behind."""
        retire_before(self._store, self._place)
        self._clear()

    def others(self) -> frozenset[str]:
        """List the generations that may exist and do not serve."""
        recorded = generations_of(self._store, self._place)
        return frozenset({FIRST, *recorded, *self.backend.names()} - {self.look()})

    def _clear(self) -> None:
        states = generations_of(self._store, self._place)
        live = {name for name, state in states.items() if state != "gone"}
        gone = {*states, *self.backend.names()} - live - {self.look()}
        for name in sorted(gone):
            self.backend.remove(name)
        forget_generations(self._store, self._place, gone)


def generation_number(name: str) -> int:
    """Return the number in the name of a generation; 0 for other names."""
    is_numbered = name != FIRST and name[:1] == "g" and name[1:].isdecimal()
    return int(name[1:]) if is_numbered else 0
