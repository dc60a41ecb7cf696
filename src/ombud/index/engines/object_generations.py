"""Generations of a LanceDB index in object storage, each below a prefix of its own.

Nothing is renamed there, and LanceDB lists no prefixes: which generations there are the store
knows.
"""

from typing import Any

from ombud.errors import EngineError
from ombud.index.engine import FIRST
from ombud.index.engines.quick_import import without_remote_client

with without_remote_client():
    import lancedb

BROKEN = (ValueError, RuntimeError, OSError)
"""What LanceDB raises."""


class ObjectGenerations:
    def __init__(self, root: str) -> None:
        self._root = root.rstrip("/")

    def folder(self, generation: str) -> str:
        return self._root if generation == FIRST else f"{self._root}/{generation}"

    def recorded(self) -> str:
        return FIRST

    def names(self) -> frozenset[str]:
        return frozenset()

    def remove(self, generation: str) -> None:
        try:
            self._connect(generation).drop_all_tables()
        except BROKEN as failed:
            raise EngineError(
                f"An old index in {self._root} cannot be removed: {first_line(failed)}.",
                hint="Check the permissions of the bucket; the next sync or rebuild tries again.",
            ) from failed

    def holds(self, generation: str) -> bool:
        try:
            return "chunks" in self._connect(generation).list_tables().tables
        except BROKEN:
            return False

    def size(self) -> int:
        return 0

    def _connect(self, generation: str) -> Any:
        return lancedb.connect(self.folder(generation))


def first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(".")
