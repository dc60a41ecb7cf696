"""Generations of an index that is a folder.

The first generation lies in the index's folder itself, later ones in folders below it.
"""

import shutil
from pathlib import Path

from ombud.errors import EngineError
from ombud.index.engine import FIRST

POINTER = "CURRENT"
"""File in which an ombud before this one named the generation that counts."""


class FolderGenerations:
    """suffix: of the folders that a generation consists of, such as `.lance`."""

    def __init__(self, root: Path, suffix: str) -> None:
        self.root = root
        self._pointer = root / POINTER
        self._tables = f"*{suffix}"

    def folder(self, generation: str) -> Path:
        return self.root / generation

    def recorded(self) -> str:
        """Raises EngineError."""
        try:
            return self._pointer.read_text(encoding="utf-8").strip() or FIRST
        except (FileNotFoundError, NotADirectoryError):
            # Who opens the index says what is wrong with the folder.
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
        found = {name for name in folders if _number(name)}
        if any(self.root.glob(self._tables)):
            found.add(FIRST)
        return frozenset(found)

    def remove(self, generation: str) -> None:
        folders = [self.root / generation]
        if generation == FIRST:
            folders = list(self.root.glob(self._tables))
        elif not _number(generation):
            return
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)

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


def _number(name: str) -> int:
    """0 where the name is not one of a generation."""
    return int(name[1:]) if name[:1] == "g" and name[1:].isdecimal() else 0
