"""Generations of an index that is a folder: a new one takes the place of the one that serves in one
rename.

The first generation lies in the index's folder itself, later ones in folders below it; `CURRENT`
names the one that counts. The generation before is kept, for processes that are still reading it.
"""

import os
import shutil
from pathlib import Path

from ombud.errors import EngineError
from ombud.index.engine import FIRST

POINTER = "CURRENT"


class FolderGenerations:
    """suffix: of the folders that a generation consists of, such as `.lance`."""

    def __init__(self, root: Path, suffix: str) -> None:
        self.root = root
        self._pointer = root / POINTER
        self._tables = f"*{suffix}"

    def folder(self, generation: str) -> Path:
        return self.root / generation

    def current(self) -> str:
        """Name of the generation that counts. Raises EngineError."""
        try:
            return self._pointer.read_text(encoding="utf-8").strip() or FIRST
        except (FileNotFoundError, NotADirectoryError):
            # Who opens the index says what is wrong with the folder.
            return FIRST
        except OSError as failed:
            raise EngineError(
                f"{self._pointer} cannot be read: {failed.strerror}.", hint="Check permissions."
            ) from failed

    def stamp(self) -> tuple[int, int]:
        try:
            status = self._pointer.stat()
        except OSError:
            return (0, 0)
        return (status.st_mtime_ns, status.st_ino)

    def begin(self) -> str:
        """Name of the next generation; what a killed build left behind under it is removed."""
        number = max(_number(self.current()), 1) + 1
        for name in self._below():
            if _number(name) >= number:
                shutil.rmtree(self.root / name, ignore_errors=True)
        return f"g{number}"

    def switch(self, generation: str) -> None:
        """Raises EngineError."""
        before = self.current()
        draft = self.root / f".{POINTER}.part"
        try:
            draft.write_text(generation + "\n", encoding="utf-8")
            with draft.open("rb") as file:
                os.fsync(file.fileno())
            draft.replace(self._pointer)
        except OSError as failed:
            raise EngineError(
                f"{self.root} cannot be written: {failed.strerror}.", hint="Free some space."
            ) from failed
        self._remove_all_but({generation, before})

    def keep_only_current(self) -> None:
        self._remove_all_but({self.current()})

    def holds(self, generation: str) -> bool:
        is_a_name = generation == FIRST or _number(generation) > 0
        return is_a_name and any(self.folder(generation).glob(self._tables))

    def size(self) -> int:
        """Bytes."""
        total = 0
        for file in self.root.rglob("*"):
            if file.is_file():
                total += file.stat().st_size
        return total

    def _remove_all_but(self, kept: set[str]) -> None:
        gone = [self.root / name for name in self._below() if name not in kept]
        if FIRST not in kept:
            gone += self.root.glob(self._tables)
        for folder in gone:
            shutil.rmtree(folder, ignore_errors=True)

    def _below(self) -> list[str]:
        """Names of the generations in folders of their own."""
        if not self.root.is_dir():
            return []
        folders = [entry.name for entry in self.root.iterdir() if entry.is_dir()]
        return [name for name in folders if _number(name)]


def _number(name: str) -> int:
    """0 where the name is not one of a generation."""
    return int(name[1:]) if name[:1] == "g" and name[1:].isdecimal() else 0
