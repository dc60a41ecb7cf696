"""Whether a folder has changed, by one look at its times: a hundredth of what opening a table
costs."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")
SETTLED = 0.1
"""Seconds after which a folder's time tells a later change: clocks of file systems tick in steps of
some milliseconds."""


class Stamped(Generic[T]):
    """What was read last, as long as the folder is as it was then; read anew where there is no such
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
        # What was written while it was read, or may be within the same tick, is looked for again.
        if stamp is not None and stamp == self._stamp() and _is_settled(stamp):
            self._last = stamp, value
        return value

    def _stamp(self) -> int | None:
        if self._folder is None:
            return None
        try:
            return self._folder.stat().st_mtime_ns
        except OSError:
            return None


def _is_settled(stamp: int) -> bool:
    return time.time() - stamp / 1e9 > SETTLED


def commits_of(place: Path | str, table: str) -> Path | None:
    """The folder that changes with every commit of a table; in object storage there is none."""
    return place / f"{table}.lance" / "_versions" if isinstance(place, Path) else None
