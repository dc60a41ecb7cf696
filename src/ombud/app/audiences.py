"""For which countries, roles, grades and contracts there are documents.

Looked up for every question, so it is kept while nothing changes.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

from ombud.store import Store, written_for

SECONDS = 5.0
"""How old an answer may be although the index says that nothing has changed: it changes a moment
before the store."""

Audiences = dict[str, list[str]]
"""`countries`, `roles`, `grades` and `contracts`, each sorted."""


class _Lookup(NamedTuple):
    version: str
    at: float
    audiences: Audiences


class KnownAudiences:
    """version: what changes with the index."""

    def __init__(
        self, store: Store, version: Callable[[], str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._version = version
        self._clock = clock
        self._last: _Lookup | None = None

    def current(self) -> Audiences:
        version = self._version()
        if self._last and self._holds(self._last, version):
            return self._last.audiences
        at = self._clock()
        audiences: Audiences = {}
        for name, values in written_for(self._store).items():
            audiences[name] = sorted(values)
        self._last = _Lookup(version, at, audiences)
        return audiences

    def _holds(self, lookup: _Lookup, version: str) -> bool:
        return lookup.version == version and self._clock() - lookup.at < SECONDS


class SeenVersion:
    """The version of the index that something kept in memory belongs to."""

    def __init__(self, version: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._version = version
        self._clock = clock
        self._changed = clock()
        self._read = self._changed

    def is_due(self, version: str) -> bool:
        """Whether it is to be read anew: at a change, and once more a little after it, when the
        store has it too."""
        now = self._clock()
        if version != self._version:
            self._version = version
            self._changed = now
        elif self._read - self._changed >= SECONDS or now - self._changed < SECONDS:
            return False
        self._read = now
        return True
