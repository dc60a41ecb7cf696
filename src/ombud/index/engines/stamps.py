"""Cache a value until a folder changes, by its modification time: far cheaper than opening a
table."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")
SETTLED_SECONDS = 0.1
"""Age from which a modification time is sure to differ after the next change: clocks of file
systems tick in steps of some milliseconds."""


class Stamped(Generic[T]):
    """A value that is read again when the folder has changed, or on every access without a
    folder."""

    def __init__(self, folder: Path | None, read: Callable[[], T]) -> None:
        self._folder = folder
        self._read = read
        self._last: tuple[int, T] | None = None

    def value(self) -> T:
        stamp = self._stamp()
        last = self._last
        if last is not None and stamp is not None and last[0] == stamp:
            return last[1]
        value = self._read()
        # A write during the read, or within the same tick of the clock, would go unnoticed.
        is_unchanged = stamp is not None and stamp == self._stamp()
        if stamp is not None and is_unchanged and time.time() - stamp / 1e9 > SETTLED_SECONDS:
            self._last = stamp, value
        return value

    def _stamp(self) -> int | None:
        if self._folder is None:
            return None
        try:
            return self._folder.stat().st_mtime_ns
        except OSError:
            return None


def commits_of(place: Path | str, table: str) -> Path | None:
    """Return the folder that changes with every commit of a table; None in object storage."""
    return place / f"{table}.lance" / "_versions" if isinstance(place, Path) else None
