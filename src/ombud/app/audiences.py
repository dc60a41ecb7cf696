"""Countries, roles, grades and contracts that documents are written for.

Every question needs them, so they are cached until the index changes.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

from ombud.store import Store, written_for

SECONDS = 5.0
"""Maximum age of a cached value although the index is unchanged: the index changes a moment before
the store."""

Audiences = dict[str, list[str]]
"""`countries`, `roles`, `grades` and `contracts`, each sorted."""


class Lookup(NamedTuple):
    version: str
    at: float
    audiences: Audiences


class KnownAudiences:
    """A cache of the audiences. version: changes with the index."""

    def __init__(
        self, store: Store, version: Callable[[], str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._version = version
        self._clock = clock
        self._last: Lookup | None = None

    def current(self) -> Audiences:
        version = self._version()
        last = self._last
        if last and last.version == version and self._clock() - last.at < SECONDS:
            return last.audiences
        at = self._clock()
        audiences: Audiences = {}
        for name, values in written_for(self._store).items():
            audiences[name] = sorted(values)
        self._last = Lookup(version, at, audiences)
        return audiences


class SeenVersion:
    """The version of the index that cached data belongs to."""

    def __init__(self, version: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._version = version
        self._clock = clock
        self._changed = clock()
        self._read = self._changed

    def is_due(self, version: str) -> bool:
        """Tell whether to read again: at a change, and once more soon after it, when the store has
        changed as well."""
        now = self._clock()
        if version != self._version:
            self._version = version
            self._changed = now
        elif self._read - self._changed >= SECONDS or now - self._changed < SECONDS:
            return False
        self._read = now
        return True
