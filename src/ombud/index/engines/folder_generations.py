"""Generations of an index in a folder: the first lies in the folder itself, later ones below."""

import shutil
from pathlib import Path

from ombud.errors import EngineError
from ombud.index.engine import FIRST

POINTER = "CURRENT"
"""File in which older versions of ombud recorded the generation that serves."""


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
