"""Cache passages of object storage in a local folder.

Only hits of the index are looked up, so the cache shows nobody more than the index does. Whenever
the index has changed, files of deleted rows are removed."""

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

MAX_PASSAGES = 200_000
"""Passages in the cache, about 8 kB each; the oldest are removed first."""
FOLDER_PREFIX = "passages-"
"""Prefix of the cache's own folders; others are left alone."""


class StoredPassage(NamedTuple):
    json: bytes
    """JSON of its Chunk."""
    tokens: bytes | None


class PassageCache:
    """The cached passages of one table. Errors of the disk are ignored: a full disk only makes
    searches slower.

    Files are readable by the system's user alone and hold plain text, so that a search of the
    folder finds a phrase."""

    def __init__(self, root: Path, table: str) -> None:
        """root: folder of all tables, which processes may share. table: location of the table."""
        self._root = root
        self.folder = root / (FOLDER_PREFIX + sha256(table.encode()).hexdigest()[:16])

    def get(self, chunk_ids: Mapping[int, str]) -> dict[int, StoredPassage]:
        """Look up passages. chunk_ids: address -> chunk id that the passage must have."""
        cached: dict[int, StoredPassage] = {}
        for address, chunk_id in chunk_ids.items():
            try:
                content = self._file(address).read_bytes()
            except OSError:
                continue
            passage = unpack_passage(content, chunk_id)
            if passage:
                cached[address] = passage
        return cached

    def put(self, passages: Mapping[int, StoredPassage]) -> None:
        with suppress(OSError):
            for address, passage in passages.items():
                file = self._file(address)
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                handle, name = tempfile.mkstemp(dir=file.parent)
                with os.fdopen(handle, "wb") as stream:
                    stream.write(pack_passage(passage))
                Path(name).replace(file)

    def keep(self, alive: Collection[int]) -> None:
        """Remove all passages but these addresses, and the folders of other tables."""
        with suppress(OSError):
            for other in self._root.glob(FOLDER_PREFIX + "*"):
                if other != self.folder:
                    shutil.rmtree(other, ignore_errors=True)
        ages: list[tuple[float, Path]] = []
        for file in self._files():
            with suppress(OSError):
                if not file.name.isdecimal() or int(file.name) not in alive:
                    file.unlink()
                else:
                    ages.append((file.stat().st_mtime, file))
        for _, file in sorted(ages)[: max(0, len(ages) - MAX_PASSAGES)]:
            file.unlink(missing_ok=True)

    def is_empty(self) -> bool:
        return next(self._files(), None) is None

    def _files(self) -> Iterator[Path]:
        with suppress(OSError):
            yield from (file for file in self.folder.rglob("*") if file.is_file())

    def _file(self, address: int) -> Path:
        return self.folder / f"{address % 256:02x}" / str(address)


def clear_cache(root: Path) -> None:
    """Remove the cached passages of all tables."""
    for folder in root.glob(FOLDER_PREFIX + "*"):
        shutil.rmtree(folder, ignore_errors=True)


def pack_passage(passage: StoredPassage) -> bytes:
    length = len(passage.json).to_bytes(4, "big")
    has_tokens = b"\0" if passage.tokens is None else b"\1"
    return length + has_tokens + passage.json + (passage.tokens or b"")


def unpack_passage(content: bytes, chunk_id: str) -> StoredPassage | None:
    end = 5 + int.from_bytes(content[:4], "big")
    text, tokens = content[5:end], content[end:]
    if len(content) < end or f'"id":"{chunk_id}"'.encode() not in text:
        return None
    return StoredPassage(text, tokens if content[4:5] == b"\1" else None)
