"""An index in a folder: its generations, of which the first lies in the folder itself and later
ones below, and values that are read again once a folder has changed."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from ombud.errors import EngineError
from ombud.index.engine import FIRST

T = TypeVar("T")
POINTER = "CURRENT"
"""File in which older versions of ombud recorded the generation that serves."""
SETTLED_SECONDS = 0.1
"""Age from which a modification time is sure to differ after the next change: clocks of file
systems tick in steps of some milliseconds."""


class FolderGenerations:
    """The generations below one folder. suffix: ending of the folders of a generation's tables,
    such as `.lance`."""

    def __init__(self, root: Path, suffix: str) -> None:
        self.root = root
        self._pointer = root / POINTER
        self._tables = f"*{suffix}"

    def folder(self, generation: str) -> Path:
        return self.root / generation

    def recorded(self) -> str:
        """Read the recorded generation; raises EngineError."""
        try:
            return self._pointer.read_text(encoding="utf-8").strip() or FIRST
        except (FileNotFoundError, NotADirectoryError):
            # Opening the index reports what is wrong with the folder.
            return FIRST
        except OSError as failed:
            raise EngineError(
                "The folder of the index cannot be read.",
                hint="`ombud doctor` says why.",
                detail=f"{self._pointer}: {failed.strerror}.",
            ) from failed

    def names(self) -> frozenset[str]:
        if not self.root.is_dir():
            return frozenset()
        folders = {entry.name for entry in self.root.iterdir() if entry.is_dir()}
        names = {name for name in folders if generation_number(name)}
        if any(self.root.glob(self._tables)):
            names.add(FIRST)
        return frozenset(names)

    def remove(self, generation: str) -> None:
        folders = [self.root / generation]
        if generation == FIRST:
            folders = list(self.root.glob(self._tables))
        elif not generation_number(generation):
            return
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)

    def holds(self, generation: str) -> bool:
        is_a_name = generation == FIRST or generation_number(generation) > 0
        return is_a_name and any(self.folder(generation).glob(self._tables))

    def size(self) -> int:
        """Return the bytes of all files."""
        total = 0
        for file in self.root.rglob("*"):
            if file.is_file():
                total += file.stat().st_size
        return total


def generation_number(name: str) -> int:
    """Return the number in the name of a generation; 0 for other names."""
    return int(name[1:]) if name[:1] == "g" and name[1:].isdecimal() else 0


class Stamped(Generic[T]):
    """A value that is read again when the folder has changed, by its modification time: far
    cheaper than opening a table. Without a folder it is read on every access."""

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
