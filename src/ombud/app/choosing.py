"""Which countries and roles documents are written for: looked up for every question, so kept while
nothing changes."""

import time
from collections.abc import Callable

from ombud.store import Store, written_for

SECONDS = 5.0
"""How old an answer may be although the index says that nothing has changed: it changes a moment
before the store."""


class Choices:
    """version: what changes with the index."""

    def __init__(
        self, store: Store, version: Callable[[], str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._version, self._clock = store, version, clock
        self._kept: tuple[str, float, dict[str, list[str]]] | None = None

    def now(self) -> dict[str, list[str]]:
        version, kept = self._version(), self._kept
        if kept and kept[0] == version and self._clock() - kept[1] < SECONDS:
            return kept[2]
        read = self._clock()
        countries, roles = written_for(self._store)
        found = {"countries": sorted(countries), "roles": sorted(roles)}
        self._kept = (version, read, found)
        return found
