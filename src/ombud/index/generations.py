"""Generations of an index: a new one is built beside the one that serves, then takes its place in
one rename.

The first generation lies in the index's folder itself, later ones in folders below it; `CURRENT`
names the one that counts. The generation before is kept, for processes that are still reading it.
"""

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from ombud.errors import EngineError
from ombud.index.engine import Engine

POINTER = "CURRENT"
FIRST = "."


def current_generation(root: Path) -> str:
    """Name of the generation that counts."""
    try:
        return (root / POINTER).read_text(encoding="utf-8").strip() or FIRST
    except (
        FileNotFoundError,
        NotADirectoryError,
    ):  # who opens the index says what is wrong with the folder
        return FIRST
    except OSError as failed:
        raise EngineError(
            f"{root / POINTER} cannot be read: {failed.strerror}.", hint="Check permissions."
        ) from failed


def new_generation(root: Path) -> str:
    """Name of the next generation; what a killed build left behind under it is removed."""
    after = max(_number(current_generation(root)), 1) + 1
    for name in _below(root):
        if _number(name) >= after:
            shutil.rmtree(root / name, ignore_errors=True)
    return f"g{after}"


def switch_generation(root: Path, name: str) -> None:
    """Let `name` count from now on, and remove all but it and the one before. Raises
    EngineError."""
    before = current_generation(root)
    draft = root / f".{POINTER}.part"
    try:
        draft.write_text(name + "\n", encoding="utf-8")
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(root / POINTER)
    except OSError as failed:
        raise EngineError(
            f"{root} cannot be written: {failed.strerror}.", hint="Free some space."
        ) from failed
    _remove_others(root, {name, before})


def keep_only_current(root: Path) -> None:
    """Remove the generation before, too: for a deletion that must leave nothing behind."""
    _remove_others(root, {current_generation(root)})


def follow(root: Path, open_at: Callable[[Path], Engine]) -> Engine:
    """An engine that is always the generation that counts; one that cannot be opened by this
    process (it was built with another embedder) is left to the processes started after it, and the
    one before serves on here."""
    return cast(Engine, _Following(root, open_at))


class _Following:
    def __init__(self, root: Path, open_at: Callable[[Path], Engine]) -> None:
        self._root, self._open_at = root, open_at
        self._seen = self._stamp()
        self._name = current_generation(root)
        self._engine = open_at(root / self._name)

    def version(self) -> str:
        """Each generation counts its versions from 1, so all but the first stand before theirs:
        `g2/17`."""
        counted = self.__getattr__("version")()
        return str(counted) if self._name == FIRST else f"{self._name}/{counted}"

    def __getattr__(self, name: str) -> Any:
        stamp = self._stamp()
        if stamp != self._seen:
            with contextlib.suppress(EngineError):
                now = current_generation(self._root)
                self._engine, self._name = self._open_at(self._root / now), now
            self._seen = stamp
        return getattr(self._engine, name)

    def _stamp(self) -> tuple[int, int]:
        try:
            found = (self._root / POINTER).stat()
        except OSError:
            return (0, 0)
        return (found.st_mtime_ns, found.st_ino)


def kept_generation(root: Path, version: str) -> tuple[Path, str] | None:
    """Where a version that an engine has told lies, and its number there; None when that generation
    is gone."""
    name, _, number = version.rpartition("/")
    folder = root / (name or FIRST)
    known = not name or _number(name) > 0
    return (folder, number) if known and any(folder.glob("*.lance")) else None


def _remove_others(root: Path, kept: set[str]) -> None:
    gone = [root / name for name in _below(root) if name not in kept]
    gone += [] if FIRST in kept else root.glob("*.lance")
    for folder in gone:
        shutil.rmtree(folder, ignore_errors=True)


def _below(root: Path) -> list[str]:
    if not root.is_dir():
        return []
    return [entry.name for entry in root.iterdir() if entry.is_dir() and _number(entry.name)]


def _number(name: str) -> int:
    return int(name[1:]) if name[:1] == "g" and name[1:].isdecimal() else 0
