"""Generations of a LanceDB index in object storage, each below a prefix of its own.

Objects cannot be renamed and LanceDB lists no prefixes, so only the store knows the generations.
"""

from datetime import timedelta
from typing import Any

from ombud.errors import EngineError
from ombud.index.engine import FIRST
from ombud.index.engines.quick_import import without_remote_client

with without_remote_client():
    import lancedb

BROKEN = (ValueError, RuntimeError, OSError)
"""Exceptions that LanceDB raises."""
KEYS = {
    "s3": "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, AWS_ENDPOINT for another server"
    " than Amazon's",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
    "gs": "GOOGLE_SERVICE_ACCOUNT, the path of its key file",
}
"""Scheme -> environment variables that LanceDB reads; without them it uses the identity of the
machine."""


class ObjectGenerations:
    """The generations of an index below one prefix of object storage."""

    def __init__(self, root: str) -> None:
        """Raise EngineError for storage that LanceDB does not support."""
        scheme = root.partition("://")[0]
        if scheme not in KEYS:
            schemes = ", ".join(f"{name}://" for name in KEYS)
            raise EngineError(
                f"LanceDB keeps no index in `{scheme}://`.", hint=f"Known: {schemes}."
            )
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
                "An old index cannot be removed.",
                hint="The next sync or rebuild tries again.",
                detail=f"{self._root}: {first_line(failed)}. May objects be deleted there?",
            ) from failed

    def holds(self, generation: str) -> bool:
        try:
            return "chunks" in self._connect(generation).list_tables().tables
        except (*BROKEN, EngineError):
            return False

    def size(self) -> int:
        return 0

    def _connect(self, generation: str) -> Any:
        return connect(self.folder(generation))


def connect(place: str, fresh: timedelta | None = None) -> Any:
    """Connect to LanceDB in object storage; raises EngineError. fresh: greatest age of what it
    reads."""
    try:
        return lancedb.connect(place, read_consistency_interval=fresh)
    except BROKEN as failed:
        raise unusable(place, failed) from failed


def unusable(place: str, failed: Exception) -> EngineError:
    """Make the error for storage that cannot be reached or used. It does not blame the index, which
    should be left alone."""
    keys = KEYS[place.partition("://")[0]]
    return EngineError(
        "The storage of the index cannot be reached or used.",
        hint="Try again; if it stays so, whoever runs the server checks its connection.",
        detail=f"{place}: {first_line(failed)}. Check index.url, the network and the keys in the "
        f"environment: {keys}.",
    )


def first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(".")
